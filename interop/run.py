"""Programs of other hands through `argfit proxy`, both ways: what they say through it is what they say without it.

    python interop/run.py

- Clients of the TypeScript SDK, of both generations and both eras, in front of Python's official fetch server.
- The TypeScript servers `everything`, `filesystem` and `sequential-thinking` behind it, with the official Python client
  in both eras.
Each pair is asked with and without argfit: the tools and the answers must be equal, and a call that is refused without
must be answered with it. Exits 0 only if all is so; what needs Node and finds none is skipped, and said.
"""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "demo"))

from first_light import beside_python, loopback_page  # noqa: E402 - found by the line above
from mcp import Client, MCPError, StdioServerParameters, stdio_client  # noqa: E402 - likewise

SECONDS = 120
PROXY = [sys.executable, "-m", "argfit", "proxy", "--repair", "unquote", "--"]
ERAS = ("legacy", "auto")
NODE, NPM = shutil.which("node"), shutil.which("npm")
PACKAGES = HERE / "node_modules" / "@modelcontextprotocol"


class Pair(NamedTuple):
    """A server, the calls that are right, and one that only argfit makes right."""

    name: str
    command: list[str]
    right: list[dict[str, Any]]
    mangled: dict[str, Any]


def with_node(kind: str, command: list[str], calls: list[dict[str, Any]]) -> Any:
    """What a client of the TypeScript SDK gets."""
    asked = json.dumps({"command": command, "calls": calls})
    run = subprocess.run(
        [str(NODE), "calls.mjs", kind, asked], cwd=HERE, capture_output=True, text=True, timeout=SECONDS, check=True
    )
    return json.loads(run.stdout)


def with_python(era: str, command: list[str], calls: list[dict[str, Any]]) -> Any:
    """What the official Python client gets."""

    async def speak() -> Any:
        parameters = StdioServerParameters(command=command[0], args=command[1:])
        with open(os.devnull, "w") as nowhere:  # noqa: ASYNC230, PTH123 - it blocks nobody
            transport = stdio_client(parameters, errlog=nowhere)
            async with asyncio.timeout(SECONDS), Client(transport, mode=era) as client:
                tools = [tool.model_dump(mode="json") for tool in (await client.list_tools()).tools]
                answers = []
                for call in calls:
                    try:
                        result = await client.call_tool(call["name"], call["arguments"])
                    except MCPError as error:
                        answers.append({"failed": error.message})
                    else:
                        content = [part.model_dump(mode="json") for part in result.content]
                        answers.append({"content": content, "isError": bool(result.is_error)})
        return {"tools": tools, "answers": answers}

    return asyncio.run(speak())


def compared(name: str, ask: Any, pair: Pair) -> list[str]:
    """What was not as it should be of one client and one server."""
    calls = [*pair.right, pair.mangled]
    bare, through = ask(pair.command, calls), ask([*PROXY, *pair.command], calls)
    unmet = []
    if bare["tools"] != through["tools"]:
        unmet.append("the tools are listed otherwise")
    for call, one, other in zip(pair.right, bare["answers"], through["answers"], strict=False):
        if one != other or one.get("isError", True):
            unmet.append(f"{call}: {one} and {other}")
    one, other = bare["answers"][-1], through["answers"][-1]
    refused = one.get("isError", True)
    if other.get("isError", True):
        unmet.append(f"{pair.mangled} is not answered: {other}")
    said = f"{len(bare['tools'])} tools, {len(pair.right)} calls alike, {json.dumps(pair.mangled['arguments'])} "
    said += "refused without and answered with argfit" if refused else "answered without argfit, too"
    print(f"  {'ok  ' if not unmet else 'NOT '} {name}: {said}")
    return [f"{name}: {words}" for words in unmet]


def typescript_servers(folder: Path) -> list[Pair]:
    """The servers that npm installed."""
    (folder / "lines.txt").write_text("one\ntwo\nthree\n")
    path = str(folder / "lines.txt")
    thought = {"thought": "t", "nextThoughtNeeded": False, "thoughtNumber": 1, "totalThoughts": 1}

    def call(tool: str, **arguments: Any) -> dict[str, Any]:
        return {"name": tool, "arguments": arguments}

    def command(server: str, *arguments: str) -> list[str]:
        return [str(NODE), str(PACKAGES / server / "dist" / "index.js"), *arguments]

    return [
        Pair(
            "everything",
            command("server-everything", "stdio"),
            [call("echo", message="5.0"), call("get-sum", a=2, b=3)],
            call("get-sum", a="2", b=3),
        ),
        Pair(
            "filesystem",
            command("server-filesystem", str(folder)),
            [call("read_text_file", path=path, head=2), call("list_directory", path=str(folder))],
            call("read_text_file", path=path, head="2"),
        ),
        Pair(
            "sequential-thinking",
            command("server-sequential-thinking"),
            [call("sequentialthinking", **thought)],
            call("sequentialthinking", **{**thought, "thoughtNumber": "1"}),
        ),
    ]


def main() -> int:
    """Compare all pairs."""
    if NODE is None or NPM is None:
        print("interop: skipped, for Node is not installed here; install Node 20 or newer, with npm")
        return 0
    install = [NPM, "install", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"]
    subprocess.run(install, cwd=HERE, check=True, timeout=600)
    unmet: list[str] = []
    with tempfile.TemporaryDirectory() as name, loopback_page() as url:
        fetch = [*(beside_python("mcp-server-fetch") or []), "--allow-private-ips", "--ignore-robots-txt"]
        page = Pair(
            "fetch",
            fetch,
            [{"name": "fetch", "arguments": {"url": url, "max_length": 200}}],
            {"name": "fetch", "arguments": {"url": url, "max_length": "200", "start_index": "0"}},
        )
        print("clients of the TypeScript SDK, before Python's fetch server")
        for kind in ("v1", "v2-legacy", "v2-auto"):
            unmet += compared(kind, lambda command, calls, kind=kind: with_node(kind, command, calls), page)
        print("the official Python client, before TypeScript servers")
        for pair in typescript_servers(Path(name).resolve()):
            for era in ERAS:
                ask = lambda command, calls, era=era: with_python(era, command, calls)  # noqa: E731 - as above
                unmet += compared(f"{pair.name}, {era}", ask, pair)
    print("\n".join(unmet) or "All are through argfit what they are without it.")
    return 1 if unmet else 0


if __name__ == "__main__":
    sys.exit(main())
