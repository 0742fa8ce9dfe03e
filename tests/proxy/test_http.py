"""The HTTP relay between a real client and a real server, and between two ends that misbehave."""

import asyncio
from typing import Any

import pytest
from mcp import Client as McpClient
from mcp.server import Server
from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool
from tests.proxy.http_ends import Seen, answer, connected, post, relayed, run, serving, upstream

from argfit.core.text import encoded
from argfit.proxy import connection, http
from argfit.proxy.http import app
from argfit.wire.conversation import Settings
from argfit.wire.message import read_message, value_of

SCHEMA = {"type": "object", "properties": {"line": {"type": "integer"}}}
SAID = "Note: these arguments differ from the tool's published schema: line must be a whole number."
REFUSED = "An error occurred invoking 'goto': line must be a whole number."


def call(arguments: str = '{"line":5.0}', id: str = "7") -> bytes:
    params = f'{{"name":"goto","arguments":{arguments}}}'
    return f'{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}'.encode()


def result(seen: Seen, **members: Any) -> dict[str, Any]:
    message = read_message(seen.body)
    assert message is not None
    return {"jsonrpc": "2.0", "id": value_of(message.id), "result": members}


def is_listing(seen: Seen) -> bool:
    return b'"tools/list"' in seen.body


async def plain(seen: Seen, writer: asyncio.StreamWriter) -> None:
    """A server with one tool, that answers every call with nothing."""
    await answer(writer, listing(seen) if is_listing(seen) else result(seen, content=[]))


def listing(seen: Seen) -> dict[str, Any]:
    return result(seen, tools=[{"name": "goto", "inputSchema": SCHEMA}])


# -- with the official client and server ----------------------------------------------------------------------


def strict() -> Any:
    async def listed(ctx: Any, params: Any) -> ListToolsResult:
        return ListToolsResult(tools=[Tool(name="goto", input_schema=SCHEMA)])

    async def called(ctx: Any, params: Any) -> CallToolResult:
        line = params.arguments["line"]
        return CallToolResult(content=[TextContent(type="text", text=repr(line))], is_error=type(line) is not int)

    return Server("s", on_list_tools=listed, on_call_tool=called).streamable_http_app()


@pytest.mark.parametrize("era", ["legacy", "auto"])
@pytest.mark.parametrize(
    ("policy", "line", "is_error", "said"),
    [
        ("explain", 5, False, ["5"]),
        ("explain", 5.0, False, ["5"]),
        ("explain", "x", True, ["'x'", SAID]),
        ("forward", "x", True, ["'x'"]),
        ("refuse", "x", True, [REFUSED]),
    ],
)
def test_the_official_client_gets_its_calls_fitted_and_its_errors_explained(
    era: Any, policy: str, line: Any, is_error: bool, said: list[str]
) -> None:
    async def story() -> None:
        async with serving(strict()) as port, relayed(port, Settings(policy)) as own:
            async with McpClient(f"http://127.0.0.1:{own}/mcp", mode=era) as client:
                got: Any = await client.call_tool("goto", {"line": line})
            assert (got.is_error, [block.text for block in got.content]) == (is_error, said)

    run(story())


# -- what reaches the server ----------------------------------------------------------------------------------


def test_a_request_reaches_the_server_as_it_was_but_for_what_is_fitted() -> None:
    async def story() -> None:
        async with upstream(plain) as server, relayed(server.port) as own, connected(own) as client:
            headers = [
                "authorization: Bearer s3cret",
                "x-own: Ä",
                "connection: keep-alive, x-hop",
                "x-hop: 1",
                "te: gzip",
            ]
            status, _, body = await client.ask(post(call(), *headers, path="/mcp?a=%20b"))
            assert (status, body) == (200, encoded({"jsonrpc": "2.0", "id": 7, "result": {"content": []}}))
            asked, called = server.seen
            assert is_listing(asked)
            assert asked.header("authorization") == "Bearer s3cret"
            assert (called.target, called.body) == ("/mcp?a=%20b", call('{"line":5}'))
            assert called.header("authorization") == "Bearer s3cret"
            assert called.header("host") == f"127.0.0.1:{server.port}"
            assert not {"x-hop", "te", "connection"} & {name for name, _ in called.headers}

    run(story())


def test_however_many_calls_wait_the_server_is_asked_for_its_tools_once_a_caller() -> None:
    async def story() -> None:
        async def slow(seen: Seen, writer: asyncio.StreamWriter) -> None:
            if is_listing(seen):
                arrived.release()
                await enough.wait()
            await plain(seen, writer)

        async def ask(own: int, who: str) -> None:
            async with connected(own) as client:
                assert (await client.ask(post(call(), f"authorization: {who}")))[0] == 200

        arrived, enough = asyncio.Semaphore(0), asyncio.Event()
        async with upstream(slow) as server, relayed(server.port) as own:
            asking = [asyncio.ensure_future(ask(own, who)) for who in ("one", "two") * 10]
            await arrived.acquire()
            await arrived.acquire()
            enough.set()
            await asyncio.gather(*asking)
            listed = [seen.header("authorization") for seen in server.seen if is_listing(seen)]
            assert sorted(filter(None, listed)) == ["one", "two"]
            assert {seen.body for seen in server.seen if not is_listing(seen)} == {call('{"line":5}')}

    run(story())


@pytest.mark.parametrize("credentials", ["authorization", "x-api-key"])
def test_what_is_listed_for_one_caller_is_not_used_for_another(credentials: str) -> None:
    async def story() -> None:
        async def two_lists(seen: Seen, writer: asyncio.StreamWriter) -> None:
            kind = "integer" if seen.header(credentials) == "one" else "number"
            schema = {"type": "object", "properties": {"line": {"type": kind}}}
            tools = [{"name": "goto", "inputSchema": schema}]
            await answer(writer, result(seen, tools=tools) if is_listing(seen) else result(seen, content=[]))

        async with upstream(two_lists) as server, relayed(server.port) as own, connected(own) as client:
            for who in ("one", "two"):
                await client.ask(post(call(), f"{credentials}: {who}"))
            called = [seen.body for seen in server.seen if not is_listing(seen)]
            assert called == [call('{"line":5}'), call('{"line":5.0}')]

    run(story())


def test_a_path_beside_the_servers_own_passes_unread() -> None:
    async def story() -> None:
        async with upstream(plain) as server, relayed(server.port) as own, connected(own) as client:
            await client.ask(post(call(), path="/other"))
            assert [(seen.target, seen.body) for seen in server.seen] == [("/other", call())]

    run(story())


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_that_streams_through_is_of_the_length_that_it_said(
    monkeypatch: pytest.MonkeyPatch, *, chunked: bool
) -> None:
    async def story() -> None:
        async with upstream(plain) as server, relayed(server.port, limit=20) as own, connected(own) as client:
            body = call() + b" " * 2**20
            whole = post(body)
            if chunked:
                parts = b"transfer-encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
                whole = b"POST /mcp HTTP/1.1\r\nhost: x\r\n" + parts
            assert (await client.ask(whole))[0] == 200
            (seen,) = server.seen
            said = (seen.header("content-length"), seen.header("transfer-encoding"), seen.body)
            assert said == ((None, "chunked", body) if chunked else (str(len(body)), None, body))

    monkeypatch.setattr(http, "_PROMPT", 0.0)  # whoever looks out for the client takes nothing of its body
    run(story())


@pytest.mark.parametrize(("policy", "status"), [("explain", 200), ("refuse", 413)])
def test_a_body_above_the_limit_streams_through_or_is_refused(policy: str, status: int) -> None:
    async def story() -> None:
        async with (
            upstream(plain) as server,
            relayed(server.port, Settings(policy), limit=20) as own,
            connected(own) as client,
        ):
            assert (await client.ask(post(call())))[0] == status
            assert [seen.body for seen in server.seen] == [call()] * (status == 200)

    run(story())


# -- streams ----------------------------------------------------------------------------------------------------


def test_an_event_passes_before_the_next_one_is_sent() -> None:
    async def story() -> None:
        async def streaming(seen: Seen, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
            for event in (b"id: 1\ndata: {}\n\n", b": still here\n\n", b"data: last"):
                writer.write(event)
                await writer.drain()
                await heard.acquire()
            writer.close()

        heard = asyncio.Semaphore(0)
        async with upstream(streaming) as server, relayed(server.port) as own, connected(own) as client:
            client.writer.write(b"GET /mcp HTTP/1.1\r\nhost: x\r\naccept: text/event-stream\r\n\r\n")
            status, headers = await client.head()
            assert (status, headers["content-type"]) == (200, "text/event-stream")
            for event in (b"id: 1\ndata: {}\n\n", b": still here\n\n", b"data: last"):
                assert await client.chunk() == event
                heard.release()
            assert await client.chunk() == b""

    run(story())


@pytest.mark.parametrize(
    ("method", "head", "passes"),
    [
        ("GET", "304 Not Modified\r\netag: x\r\ncontent-length: 4", ["etag: x"]),
        ("DELETE", "204 No Content\r\netag: x", ["etag: x"]),
        ("HEAD", "200 OK\r\ncontent-length: 4\r\netag: x", ["content-length: 4", "etag: x"]),
        ("GET", "200 OK\r\ncontent-length: 0\r\netag: x", ["content-length: 0", "etag: x"]),
        (
            "POST",
            "202 Accepted\r\netag: x\r\ncontent-length: 0\r\ndate: y",
            ["etag: x", "content-length: 0", "date: y"],
        ),
    ],
)
def test_an_answer_without_a_body_passes_with_its_headers(method: str, head: str, passes: list[str]) -> None:
    async def story() -> None:
        async def empty(seen: Seen, writer: asyncio.StreamWriter) -> None:
            writer.write(f"HTTP/1.1 {head}\r\n\r\n".encode())

        async with upstream(empty) as server, relayed(server.port) as own, connected(own) as client:
            for _ in range(2):  # and leaves nothing behind
                client.writer.write(f"{method} /mcp HTTP/1.1\r\nhost: x\r\n\r\n".encode())
                status, *headers = (await client.reader.readuntil(b"\r\n\r\n"))[:-4].decode().split("\r\n")
                assert (status.split()[1], headers) == (head.split(maxsplit=1)[0], passes)

    run(story())


def test_a_client_that_goes_after_a_long_body_takes_its_request_along() -> None:
    async def story() -> None:
        async def waiting(seen: Seen, writer: asyncio.StreamWriter) -> None:
            at_work.set()
            await asyncio.Event().wait()

        at_work = asyncio.Event()
        async with upstream(waiting) as server, relayed(server.port, limit=20) as own:
            async with connected(own) as client:
                client.writer.write(post(call()))
                await at_work.wait()
            await server.gone.wait()

    run(story())


@pytest.mark.parametrize("streams", [False, True])
def test_a_client_that_goes_takes_its_request_along(*, streams: bool) -> None:
    async def story() -> None:
        async def waiting(seen: Seen, writer: asyncio.StreamWriter) -> None:
            if streams:
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n: hello\n\n")
            at_work.set()
            await asyncio.Event().wait()

        at_work = asyncio.Event()
        async with upstream(waiting) as server, relayed(server.port) as own:
            async with connected(own) as client:
                client.writer.write(post(b'{"jsonrpc":"2.0","id":1,"method":"ping"}'))
                await at_work.wait()
                if streams:
                    await client.head()
            await server.gone.wait()

    run(story())


# -- what fails -------------------------------------------------------------------------------------------------


def test_a_server_that_cannot_be_reached_is_named_to_the_request() -> None:
    async def story() -> None:
        async with upstream(plain) as server:
            port = server.port
        async with relayed(port) as own, connected(own) as client:
            status, headers, body = await client.ask(post(call(id='"a"')))
            assert (status, headers["content-type"]) == (502, "application/json")
            assert body == (
                b'{"jsonrpc":"2.0","id":"a","error":{"code":-32000,"message":"the server cannot be reached"}}\n'
            )

    run(story())


def test_a_call_that_may_have_run_is_not_made_again() -> None:
    async def story() -> None:
        async def dying(seen: Seen, writer: asyncio.StreamWriter) -> None:
            if is_listing(seen):
                await answer(writer, listing(seen))
            else:
                writer.close()

        async with upstream(dying) as server, relayed(server.port) as own, connected(own) as client:
            assert (await client.ask(post(call())))[0] == 502
            assert len([seen for seen in server.seen if not is_listing(seen)]) == 1

    run(story())


@pytest.mark.parametrize("head", [b"content-length: 1000000", b"transfer-encoding: chunked", b"content-length: 100"])
def test_half_an_answer_is_not_ended_as_if_it_were_whole(head: bytes) -> None:
    async def story() -> None:
        async def half(seen: Seen, writer: asyncio.StreamWriter) -> None:
            body = b'5\r\n{"id"\r\n' if b"chunked" in head else b'{"id"'
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n" + head + b"\r\n\r\n" + body)
            await writer.drain()
            writer.close()

        async with upstream(half) as server, relayed(server.port) as own, connected(own) as client:
            ping = client.ask(post(b'{"jsonrpc":"2.0","id":1,"method":"ping"}'))
            if head == b"content-length: 100":  # which is waited for
                status, _, body = await ping
                assert (status, b"the server's answer broke off" in body) == (502, True)
            else:
                with pytest.raises(asyncio.IncompleteReadError):
                    await ping

    run(story())


def test_a_server_that_takes_too_long_is_named_to_the_request(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        async def silent(seen: Seen, writer: asyncio.StreamWriter) -> None:
            await asyncio.Event().wait()

        async with upstream(silent) as server, relayed(server.port) as own, connected(own) as client:
            status, _, body = await client.ask(post(b'{"jsonrpc":"2.0","id":1,"method":"ping"}'))
            assert (status, b"the server does not answer" in body) == (504, True)

    monkeypatch.setattr(connection, "ANSWER_SECONDS", 0.0)
    run(story())


def test_a_redirect_is_the_clients_to_follow() -> None:
    async def story() -> None:
        async def moved(seen: Seen, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 307 Moved\r\nlocation: http://elsewhere.invalid/\r\ncontent-length: 0\r\n\r\n")

        async with upstream(moved) as server, relayed(server.port) as own, connected(own) as client:
            status, headers, _ = await client.ask(post(b'{"jsonrpc":"2.0","id":1,"method":"ping"}'))
            assert (status, headers["location"]) == (307, "http://elsewhere.invalid/")
            assert len(server.seen) == 1

    run(story())


def test_long_and_doubled_headers_of_an_answer_pass() -> None:
    async def story() -> None:
        async def heavy(seen: Seen, writer: asyncio.StreamWriter) -> None:
            await answer(writer, {}, "application/json", f"set-cookie: a={'x' * 30_000}", "set-cookie: b=1")

        async with upstream(heavy) as server, relayed(server.port) as own, connected(own) as client:
            client.writer.write(post(b'{"jsonrpc":"2.0","id":1,"method":"ping"}'))
            head = await client.reader.readuntil(b"\r\n\r\n")
            assert head.count(b"set-cookie: ") == 2
            assert b"x" * 30_000 in head

    run(story())


def test_health_and_readiness_are_told() -> None:
    async def told(own: int) -> list[int]:
        async with connected(own) as client:
            asked = (f"GET {path} HTTP/1.1\r\nhost: x\r\n\r\n".encode() for path in ("/-/health", "/-/ready"))
            return [(await client.ask(request))[0] for request in asked]

    async def story() -> None:
        async with upstream(plain) as server:
            async with relayed(server.port) as own:
                assert await told(own) == [200, 200]
            assert server.seen == []
        async with relayed(server.port) as own:
            assert await told(own) == [200, 503]

    run(story())


@pytest.mark.parametrize(
    ("host", "origin", "status"),
    [
        ("localhost:81", None, 200),
        ("127.0.0.1", "http://localhost:3000", 200),
        ("evil.example", None, 403),
        ("localhost", "https://evil.example", 403),
        ("localhost", "null", 403),
    ],
)
def test_a_page_of_another_host_does_not_reach_a_server_on_this_machine(
    host: str, origin: str | None, status: int
) -> None:
    async def story() -> None:
        hosts = {"localhost", "127.0.0.1"}
        async with upstream(plain) as server, relayed(server.port, hosts=hosts) as own, connected(own) as client:
            head = f"POST /mcp HTTP/1.1\r\nhost: {host}\r\ncontent-length: {len(call())}\r\n".encode()
            origins = f"origin: {origin}\r\n".encode() if origin else b""
            assert (await client.ask(head + origins + b"\r\n" + call()))[0] == status
            assert bool(server.seen) is (status == 200)

    run(story())


def test_each_request_must_mean_this_machine_whatever_the_one_before_it_meant() -> None:
    async def story() -> None:
        right, wrong = b"host: localhost\r\n", b"host: evil.example\r\n"
        origin = b"origin: http://localhost:3000\r\n"
        said = (b"", right, right, wrong, right + origin, right + origin, wrong + origin, right + wrong, right)
        ping = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
        statuses = []
        async with (
            upstream(plain) as server,
            relayed(server.port, hosts={"localhost"}) as own,
            connected(own) as client,
        ):
            for called in said:
                head = b"POST /mcp HTTP/1.1\r\ncontent-length: %d\r\n" % len(ping)
                statuses.append((await client.ask(head + called + b"\r\n" + ping))[0])
        assert statuses == [403, 200, 200, 403, 200, 200, 403, 403, 200]

    run(story())


def test_an_answer_that_is_read_is_not_asked_for_in_a_coding() -> None:
    async def story() -> None:
        async with upstream(plain) as server, relayed(server.port) as own, connected(own) as client:
            for more in ("x: y", "content-encoding: gzip"):
                await client.ask(post(call(), "accept-encoding: gzip, br", more))
            *_, read, coded = [seen.header("accept-encoding") for seen in server.seen]
            assert (read, coded) == ("identity", "gzip, br")

    run(story())


@pytest.mark.parametrize("url", ["", "localhost:8000", "ftp://x/mcp", "http://", "http://x/mcp?a=1"])
def test_what_is_no_url_of_a_server_is_an_error_at_once(url: str) -> None:
    with pytest.raises(ValueError, match="give one as http://"):
        app(url)
