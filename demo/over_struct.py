"""Over a Struct: what a model wrote as 5 comes as 5.0, a strict server refuses it, and with one line it is answered.

The way of each call: the model's JSON, a protobuf Struct, bytes, the Struct again, the official client, the server. It
goes twice, as it came and by `argfit.adapters.mcp_client.fit`. What was dispatched is read off the server's stdin, and
must be, byte for byte, what `ToolCatalog.render` shows a user. Exits 0 only if every call went as stated.
"""

import asyncio
import contextlib
import json
import logging
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, TextIO

try:
    from conversation import RECORD, calls_on, first_cause
    from first_light import beside_python, loopback_page
    from google.protobuf.struct_pb2 import Struct
    from mcp import Client, MCPError, StdioServerParameters, stdio_client

    from argfit import ToolCatalog
    from argfit.adapters.mcp_client import fit
    from argfit.struct import from_struct, to_struct
except ModuleNotFoundError as missing:
    sys.exit(f"over a struct: {missing.name} is not installed here; `make client-check` sets everything up")

SOURCE = "def total(rows):\n    return count(rows)\n\n\ndef count(rows):\n    return len(rows)\n"
SECONDS = 60.0


class Call(NamedTuple):
    """One call as a model writes it."""

    server: str
    tool: str
    written: str


class Went(NamedTuple):
    """What came of a call: whether it was answered, what was said, and the line on the server's stdin."""

    answered: bool
    said: str
    line: bytes


def arrived(written: str) -> dict[str, Any]:
    """What a client holds of what a model wrote, after the wire."""
    struct = Struct()
    struct.ParseFromString(to_struct(json.loads(written)).SerializeToString())
    return from_struct(struct)


async def went(client: Any, tool: str, arguments: dict[str, Any], tape: Path) -> Went:
    """Make one call, and read what it was on the wire."""
    before = len(calls_on(tape))
    try:
        result = await client.call_tool(tool, arguments)
        answered, said = not result.is_error, "".join(getattr(part, "text", "") for part in result.content)
    except MCPError as error:
        answered, said = False, f"JSON-RPC error {error.code}: {error.message}"
    return Went(answered, said, (calls_on(tape)[before:] or [b""])[0])


async def try_out(server: list[str], calls: list[Call], tape: Path, errlog: TextIO) -> list[str]:
    """Make the calls, print what came of them, and return what was not as stated."""
    unmet: list[str] = []
    parameters = StdioServerParameters(command=sys.executable, args=[str(RECORD), str(tape), *server])
    transport = stdio_client(parameters, errlog=errlog)
    async with asyncio.timeout(SECONDS), Client(transport, read_timeout_seconds=SECONDS) as client:
        catalog = ToolCatalog()
        catalog.update("server", (await client.list_tools()).tools)
        held = [arrived(call.written) for call in calls]
        as_it_came = [await went(client, call.tool, sent, tape) for call, sent in zip(calls, held, strict=True)]
        fit(client)
        as_it_fits = [await went(client, call.tool, sent, tape) for call, sent in zip(calls, held, strict=True)]
        for call, arguments, bare, fitted in zip(calls, held, as_it_came, as_it_fits, strict=True):
            shown = catalog.render(call.tool, arguments)
            literal = shown.removeprefix(f"MCP Tool: {call.tool} (").removesuffix(")").encode()
            stated = {
                "without argfit it is refused": not bare.answered,
                "with argfit it is answered": fitted.answered,
                "what is shown is what was dispatched": b'"arguments":' + literal in fitted.line,
            }
            print(f"\n{call.server}: {call.tool}")
            print(f"  the model wrote   {call.written}")
            print(f"  over a Struct     {json.dumps(arguments, separators=(',', ':'))}")
            print(f"  without argfit    {_in_short(bare)}")
            print(f"  with argfit       {_in_short(fitted)}")
            print(f"  shown             {shown}")
            unmet += [f"{call.server}, {call.tool}: not so: {words}" for words, holds in stated.items() if not holds]
    return unmet


def _in_short(one: Went) -> str:
    first = next(iter(one.said.strip().splitlines()), "")
    return f"{'answered' if one.answered else 'REFUSED '}  {first[:88]}"


@contextlib.contextmanager
def servers(folder: Path) -> Iterator[dict[str, tuple[list[str], list[Call]]]]:
    """The strict servers that are installed here, and the calls to make of each."""
    found: dict[str, tuple[list[str], list[Call]]] = {}
    with loopback_page() as url:
        fetch, bifrost = beside_python("mcp-server-fetch"), beside_python("bifrost")
        if fetch:
            calls = [Call("mcp-server-fetch", "fetch", f'{{"url":"{url}","max_length":200}}')]
            found["fetch"] = [*fetch, "--allow-private-ips", "--ignore-robots-txt"], calls
        if bifrost:
            (folder / "project").mkdir()
            (folder / "project" / "rows.py").write_text(SOURCE)
            place = '{"references":[{"path":"rows.py","line":2,"column":12}]}'
            calls = [
                Call("bifrost", "usage_graph", '{"depth":1}'),
                Call("bifrost", "get_definitions_by_location", place),
                Call("bifrost", "query_code", '{"match":{"kind":"call"},"limit":5}'),  # a schema of 133 kB, recursive
            ]
            found["bifrost"] = [*bifrost, "--root", str(folder / "project"), "--mcp", "core|extended"], calls
        yield found


def main() -> int:
    """Try every server that is here."""
    with tempfile.TemporaryDirectory() as name, servers(folder := Path(name)) as found:
        if not found:
            print("over a struct: no strict server is installed here; `make client-check` sets one up")
            return 1
        unmet: list[str] = []
        with Path(folder, "stderr").open("w", encoding="utf-8") as errlog:
            logging.basicConfig(stream=errlog)
            for server, (command, calls) in found.items():
                try:
                    unmet += asyncio.run(try_out(command, calls, folder / f"{server}.tape", errlog))
                except (MCPError, OSError, TimeoutError, ExceptionGroup) as error:
                    unmet.append(f"{server}: the calls were not made: {first_cause(error)}")
    if "bifrost" not in found:
        print("\nSkipped: bifrost, a server in Rust, is not installed here; `make interop` does that.")
    print("\n" + ("\n".join(unmet) or "Every call went as stated."))
    return 1 if unmet else 0


if __name__ == "__main__":
    sys.exit(main())
