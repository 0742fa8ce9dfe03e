"""The listings that the relay asks for itself: as the caller whose call needs them, once, and not for ever."""

import asyncio

import pytest
from tests.proxy.http_ends import Seen, answer, connected, post, relayed, run, upstream
from tests.proxy.test_http import call, is_listing, listing, plain

from argfit.proxy import asking


def test_a_listing_is_asked_for_as_the_caller_that_needs_it() -> None:
    async def story() -> None:
        async with upstream(plain) as server, relayed(server.port) as own, connected(own) as client:
            said = ("x-api-key: one", "cookie: a=b", "user-agent: own", "mcp-protocol-version: 2025-11-25")
            once = ("dpop: proof", "idempotency-key: 1", "last-event-id: 2", "mcp-name: goto", "mcp-param-line: 5")
            await client.ask(post(call(), *said, *once, "mcp-method: tools/call", path="/mcp?profile=a"))
            asked, called = server.seen
            assert is_listing(asked)
            assert asked.target == called.target == "/mcp?profile=a"
            sent = [f"{name}: {value}" for name, value in asked.headers]
            own_words = [
                "content-type: application/json",
                "accept: application/json, text/event-stream",
                "mcp-method: tools/list",
            ]
            assert sent == [
                f"host: 127.0.0.1:{server.port}",
                *said,
                *own_words,
                f"content-length: {len(asked.body)}",
            ]
            assert [one for one in once if one in {f"{name}: {value}" for name, value in called.headers}] == list(once)

    run(story())


def test_a_listing_that_says_nothing_is_given_up_and_asked_for_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        async def silent(seen: Seen, writer: asyncio.StreamWriter) -> None:
            if is_listing(seen) and not server.gone.is_set():
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n: hello\n\n")
                await asyncio.Event().wait()
            await plain(seen, writer)

        async with upstream(silent) as server, relayed(server.port, schema_wait=0.0) as own, connected(own) as client:
            while not server.gone.is_set():  # it has begun, and was given up
                await client.ask(post(call()))
            monkeypatch.undo()
            while server.seen[-1].body != call('{"line":5}'):  # once its listing has come
                await client.ask(post(call()))
            assert server.seen[-1].body == call('{"line":5}')

    monkeypatch.setattr(asking, "LISTING_SECONDS", 0.05)
    run(story())


def test_a_listing_that_is_begun_anew_takes_the_place_of_one_that_is_late() -> None:
    async def story() -> None:
        async def changing(seen: Seen, writer: asyncio.StreamWriter) -> None:
            if not is_listing(seen):
                changed = b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'
                events = b"event: message\ndata: %b\n\ndata: {}\n\n" % changed
                await answer(writer, events, "text/event-stream")
            elif sum(map(is_listing, server.seen)) == 1:
                await asyncio.Event().wait()
            else:
                await answer(writer, listing(seen))

        async with upstream(changing) as server, relayed(server.port, schema_wait=0.2) as own, connected(own) as client:
            await client.ask(post(call()))
            await client.ask(post(call()))
            called = [seen.body for seen in server.seen if not is_listing(seen)]
            assert called == [call(), call('{"line":5}')]
            await server.gone.wait()

    run(story())


def test_a_listing_that_comes_to_nothing_again_and_again_is_left_alone_for_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def story() -> None:
        async def refusing(seen: Seen, writer: asyncio.StreamWriter) -> None:
            if is_listing(seen) and refuses:
                writer.write(b"HTTP/1.1 401 No\r\ncontent-length: 0\r\n\r\n")
            else:
                await plain(seen, writer)

        async with upstream(refusing) as server, relayed(server.port) as own, connected(own) as client:
            asked = []
            for _ in range(6):
                await client.ask(post(call(), "authorization: one"))
                asked.append(sum(map(is_listing, server.seen)))
            assert asked == [1, 2, 2, 2, 2, 2]
            await client.ask(post(call(), "authorization: two"))
            assert sum(map(is_listing, server.seen)) == 3
            for rest, times in ((1.0, 4), (1.0, 4), (1.0, 5), (3.0, 5), (1.0, 6)):
                now[0] += rest
                await client.ask(post(call(), "authorization: one"))
                assert sum(map(is_listing, server.seen)) == times
            refuses.clear()
            now[0] += asking._LONGEST_REST  # noqa: SLF001
            await client.ask(post(call(), "authorization: one"))
            assert server.seen[-1].body == call('{"line":5}')

    refuses, now = ["them"], [1e6]
    monkeypatch.setattr(asking, "monotonic", lambda: now[0])
    run(story())
