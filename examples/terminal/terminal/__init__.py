"""A small terminal client for MCP servers: pick a tool, type its arguments loosely, see what was sent and why."""
