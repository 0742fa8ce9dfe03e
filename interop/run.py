"""Programs of other hands through `argfit proxy` and `argfit serve`: they say through it what they say without it.

    python interop/run.py

- Clients of the TypeScript SDK, of both generations and both eras, in front of Python's official fetch server.
- The TypeScript servers `everything`, `filesystem` and `sequential-thinking` behind it, with the official Python client
  in both eras.
- All of these clients over streamable HTTP, in front of the TypeScript server `everything` and of the farm of
  examples/farm (each row of its check), which is signed in to through argfit.
Each pair is asked with and without argfit: the tools and the answers must be equal, and a call that is refused without
must be answered with it. Exits 0 only if all is so; what needs Node and finds none is skipped, and said.
"""

import asyncio
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "demo"), str(HERE.parent / "examples" / "farm")]

import httpx2  # noqa: E402 - with the rest
from farm.auth import READ  # noqa: E402 - found by the line above
from farm.check import CALLS, connected, free_port, listening  # noqa: E402 - likewise
from first_light import beside_python, loopback_page  # noqa: E402 - likewise
from mcp import Client, MCPError, StdioServerParameters, stdio_client  # noqa: E402 - likewise
from mcp.client.streamable_http import streamable_http_client  # noqa: E402 - likewise

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
    is_check: bool = False  # some of its calls are refused, as they should be


def with_node(kind: str, server: dict[str, Any], calls: list[dict[str, Any]]) -> Any:
    """What a client of the TypeScript SDK gets of a server, a command or a URL with headers."""
    asked = json.dumps({**server, "calls": calls})
    run = subprocess.run(
        [str(NODE), "calls.mjs", kind, asked], cwd=HERE, capture_output=True, text=True, timeout=SECONDS, check=True
    )
    return json.loads(run.stdout)


def with_python(era: str, server: dict[str, Any], calls: list[dict[str, Any]]) -> Any:
    """What the official Python client gets of it."""

    async def speak(nowhere: Any) -> Any:
        async with contextlib.AsyncExitStack() as stack:
            if "url" in server:
                http = await stack.enter_async_context(httpx2.AsyncClient(headers=server["headers"], timeout=SECONDS))
                transport = streamable_http_client(server["url"], http_client=http)
            else:
                command, *arguments = server["command"]
                transport = stdio_client(StdioServerParameters(command=command, args=arguments), errlog=nowhere)
            await stack.enter_async_context(asyncio.timeout(SECONDS))
            client = await stack.enter_async_context(Client(transport, mode=era))
            tools = [tool.model_dump(mode="json") for tool in (await client.list_tools()).tools]
            return {"tools": tools, "answers": [await answered(client, call) for call in calls]}

    with Path(os.devnull).open("w") as nowhere:
        return asyncio.run(speak(nowhere))


async def answered(client: Client, call: dict[str, Any]) -> dict[str, Any]:
    """What came of one call, and what news of it."""
    news: list[Any] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        news.append([done, total])

    try:
        result = await client.call_tool(call["name"], call["arguments"], progress_callback=progress)
    except MCPError as error:
        return {"failed": error.message, "news": news}
    content = [part.model_dump(mode="json") for part in result.content]
    return {"content": content, "isError": bool(result.is_error), "news": news}


def compared(name: str, ask: Any, pair: Pair) -> list[str]:
    """What was not as it should be of one client and one server."""
    calls = [*pair.right, pair.mangled]
    bare, through = ask({"command": pair.command}, calls), ask({"command": [*PROXY, *pair.command]}, calls)
    return told(name, pair, bare, through)


def told(name: str, pair: Pair, bare: Any, through: Any) -> list[str]:
    """Say how two ways to one server compare; what was not as it should be."""
    unmet = []
    if bare["tools"] != through["tools"]:
        unmet.append("the tools are listed otherwise")
    for call, one, other in zip(pair.right, bare["answers"], through["answers"], strict=False):
        if one != other or (one.get("isError", True) and not pair.is_check):
            unmet.append(f"{call}: {one} and {other}")
    one, other = bare["answers"][-1], through["answers"][-1]
    refused = one.get("isError", True)
    if other.get("isError", True):
        unmet.append(f"{pair.mangled} is not answered: {other}")
    said = f"{len(bare['tools'])} tools, {len(pair.right)} calls alike, {json.dumps(pair.mangled['arguments'])} "
    said += "refused without and answered with argfit" if refused else "answered without argfit, too"
    print(f"  {'ok  ' if not unmet else 'NOT '} {name}: {said}")
    return [f"{name}: {words}" for words in unmet]


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    """A call as it is sent."""
    return {"name": tool, "arguments": arguments}


EVERYTHING = Pair(
    "everything",
    [],
    [
        call("echo", message="5.0"),
        call("get-tiny-image"),
        call("get-resource-links", count=3),
        call("trigger-long-running-operation", duration=0.2, steps=4),
    ],
    call("get-sum", a="2", b=3),
)
FARM = Pair(
    "the farm",
    [],
    [call(tool, **arguments) for who, tool, arguments, _ in CALLS if who == "reader"],
    call("list_flocks", limit="2"),
    is_check=True,
)


@contextlib.contextmanager
def running(command: list[str], port: int, **more: Any) -> Iterator[None]:
    """A process that serves a port."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more) as process:
        try:
            listening(port)
            yield
        finally:
            process.terminate()


def everything(port: int, public: int, folder: Path) -> Any:
    """The TypeScript server that has one of everything."""
    path = str(PACKAGES / "server-everything" / "dist" / "index.js")
    return running([str(NODE), path, "streamableHttp"], port, env={**os.environ, "PORT": str(port)})


def farm(port: int, public: int, folder: Path) -> Any:
    """The farm, which knows itself by argfit's URL."""
    words = [
        "--port",
        str(port),
        "--public-url",
        f"http://127.0.0.1:{public}",
        "--database",
        f"sqlite:///{folder}/farm.db",
    ]
    return running([sys.executable, "-m", "farm.server", *words], port, cwd=HERE.parent / "examples" / "farm")


def served(port: int, public: int) -> Any:
    """`argfit serve` before a port."""
    words = [
        "--to",
        f"http://127.0.0.1:{port}/mcp",
        "--port",
        str(public),
        "--repair",
        "unquote",
        "--on-misfit",
        "forward",
    ]
    return running([sys.executable, "-m", "argfit", "serve", *words], public)


async def signed_in(port: int) -> dict[str, str]:
    """The headers of a caller who signed in to the farm through this port."""
    base = f"http://127.0.0.1:{port}"
    async with connected(base, "Olive", "hen-house", READ) as http:
        async with Client(streamable_http_client(f"{base}/mcp", http_client=http)) as client:
            await client.list_tools()
        tokens = http.auth.context.current_tokens
    return {"Authorization": f"Bearer {tokens.access_token}"}


def typescript_servers(folder: Path) -> list[Pair]:
    """The servers that npm installed."""
    (folder / "lines.txt").write_text("one\ntwo\nthree\n")
    path = str(folder / "lines.txt")
    thought = {"thought": "t", "nextThoughtNeeded": False, "thoughtNumber": 1, "totalThoughts": 1}

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


def over_http(folder: Path) -> list[str]:
    """Compare all clients with two servers over HTTP."""
    unmet: list[str] = []
    clients: dict[str, Any] = dict.fromkeys(("v1", "v2-legacy", "v2-auto"), with_node) | dict.fromkeys(
        ERAS, with_python
    )
    for pair, start in ((EVERYTHING, everything), (FARM, farm)):
        port, public = free_port(), free_port()
        with start(port, public, folder), served(port, public):
            headers = asyncio.run(signed_in(public)) if pair is FARM else {}
            print(f"over HTTP, before {pair.name}")
            for kind, ask in clients.items():
                calls = [*pair.right, pair.mangled]
                bare, through = (
                    ask(kind, {"url": f"http://127.0.0.1:{one}/mcp", "headers": headers}, calls)
                    for one in (port, public)
                )
                unmet += told(f"{pair.name}, {kind}", pair, bare, through)
    return unmet


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
            unmet += compared(kind, lambda server, calls, kind=kind: with_node(kind, server, calls), page)
        print("the official Python client, before TypeScript servers")
        for pair in typescript_servers(Path(name).resolve()):
            for era in ERAS:
                ask = lambda server, calls, era=era: with_python(era, server, calls)  # noqa: E731 - as above
                unmet += compared(f"{pair.name}, {era}", ask, pair)
        unmet += over_http(Path(name))
    print("\n".join(unmet) or "All are through argfit what they are without it.")
    return 1 if unmet else 0


if __name__ == "__main__":
    sys.exit(main())
