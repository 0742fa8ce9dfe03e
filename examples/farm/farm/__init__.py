"""An egg farm behind MCP: a real database, OAuth, and tools that are good to call."""
