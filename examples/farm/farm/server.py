"""The farm's server: `python -m farm.server` speaks HTTP, with `--stdio` stdin and stdout."""

import argparse
import logging
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import uvicorn
from mcp.server import MCPServer
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_REQUEST
from pydantic import AnyHttpUrl

from argfit.adapters.mcp_server import guard
from farm.auth import READ, SCOPES, WRITE, FarmAuth, Person, add_consent
from farm.sample import fill
from farm.store import Farm
from farm.tools import add_tools

HELLO = """The farm is at {base}/mcp. Give that address to an MCP client, for instance as

  {{"mcpServers": {{"egg-farm": {{"type": "http", "url": "{base}/mcp"}}}}}}

and sign in as Olive (the owner, hen-house) or Walt (a worker, feed-bin). Ctrl-C ends it.
"""
NEEDS = {"record_daily_entry": WRITE}  # all other tools need to read


def server(url: str, base: str | None = None, people: dict[str, Person] | None = None) -> MCPServer[Any]:
    """The farm's server over this database; with a base URL, behind OAuth."""
    farm = Farm(url)
    if farm.create():
        fill(farm)
    if base is None:
        made: MCPServer[Any] = MCPServer("egg-farm", instructions="The records of one egg farm.")
    else:
        auth = FarmAuth(base, people or {})
        made = MCPServer(
            "egg-farm",
            instructions="The records of one egg farm.",
            auth_server_provider=auth,
            auth=AuthSettings(
                issuer_url=AnyHttpUrl(base),
                resource_server_url=AnyHttpUrl(f"{base}/mcp"),
                client_registration_options=ClientRegistrationOptions(
                    enabled=True, valid_scopes=list(SCOPES), default_scopes=[READ]
                ),
                validate_token_resource=True,
            ),
        )
        add_consent(made, auth)
        made.middleware.append(only_with_scope)
    add_tools(made, farm)
    return guard(made)


async def only_with_scope(ctx: Any, call_next: Any) -> Any:
    """Refuse a call that the caller's token does not cover."""
    token = get_access_token()
    if ctx.method == "tools/call" and token is not None:
        needed = NEEDS.get((ctx.params or {}).get("name"), READ)
        if needed not in token.scopes:
            raise MCPError(INVALID_REQUEST, f"This call needs the scope {needed}; connect again and allow it.")
    return await call_next(ctx)


def main() -> None:
    """Start the server as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stdio", action="store_true", help="speak on stdin and stdout, without OAuth")
    parser.add_argument("--port", type=int, default=8017, help="the port of the HTTP server (8017)")
    parser.add_argument("--public-url", metavar="URL", help="where clients reach it, if not at its own port")
    parser.add_argument("--database", metavar="URL", help="any URL that SQLAlchemy knows (a new file of SQLite)")
    options = parser.parse_args()
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    url = options.database or f"sqlite:///{Path(tempfile.mkdtemp()) / 'farm.db'}"
    if options.stdio:
        server(url).run()
        return
    base = (options.public_url or f"http://127.0.0.1:{options.port}").rstrip("/")
    people = {
        "olive": Person.of("Olive", os.environ.get("FARM_OWNER_PASSWORD", "hen-house"), "owner", "worker"),
        "walt": Person.of("Walt", os.environ.get("FARM_WORKER_PASSWORD", "feed-bin"), "worker"),
    }
    print(HELLO.format(base=base), file=sys.stderr)
    # no access log: the addresses of an OAuth sign-in hold what opens it
    app = server(url, base, people).streamable_http_app()
    uvicorn.run(app, host="127.0.0.1", port=options.port, log_config=None, access_log=False)


if __name__ == "__main__":
    main()
