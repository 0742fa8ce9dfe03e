"""What becomes of a call: when its server is listed, who waits for that, and what is then sent."""

import asyncio
import copy
import logging
import pickle
import threading
from collections.abc import Awaitable, Callable
from datetime import date
from decimal import Decimal
from types import MappingProxyType, SimpleNamespace
from typing import Any
from weakref import ref

import anyio
import pytest

from argfit import Fitter, catalog, dispatch
from argfit.dispatch import Dispatch, Refusal, Server, all_tools, connection_of, learning

WHOLE, TEXT = ({"name": "t", "inputSchema": {"properties": {"n": {"type": kind}}}} for kind in ("integer", "string"))
SENT = {"n": 5.0}


class Listed:
    """A server that is listed when it is let, and how often it was asked."""

    def __init__(self, *tools: Any) -> None:
        self.tools = tools
        self.asked = 0
        self.let = asyncio.Event()
        self.fails: type[BaseException] | None = None

    async def listing(self) -> list[Any]:
        self.asked += 1
        await self.let.wait()
        if self.fails is not None:
            raise self.fails
        return list(self.tools)


def start(dispatching: Dispatch, server: Listed, count: int = 1) -> list[asyncio.Task[Any]]:
    return [asyncio.create_task(dispatching.decide("t", SENT, server.listing)) for _ in range(count)]


async def waiting() -> None:
    """Let every task come to where it waits."""
    for _ in range(20):
        await asyncio.sleep(0)


def test_calls_that_want_a_listing_at_once_share_one() -> None:
    async def run() -> None:
        server, dispatching = Listed(WHOLE), Dispatch()
        calls = start(dispatching, server, 50)
        await waiting()
        server.let.set()
        assert [repr(one) for one in await asyncio.gather(*calls)] == ["{'n': 5}"] * 50
        assert server.asked == 1

    asyncio.run(run())


def test_calls_that_are_to_be_refused_at_once_have_the_server_listed_once_more() -> None:
    async def run() -> None:
        server, dispatching = Listed(WHOLE), Dispatch(on_misfit="refuse")
        server.let.set()
        await dispatching.decide("t", SENT, server.listing)
        server.let.clear()
        calls = [asyncio.create_task(dispatching.decide("t", {"n": "x"}, server.listing)) for _ in range(50)]
        await waiting()
        server.let.set()
        assert [type(one) for one in await asyncio.gather(*calls)] == [Refusal] * 50
        assert server.asked == 2

    asyncio.run(run())


def test_a_first_call_is_refused_by_the_listing_that_it_waited_for() -> None:
    async def run() -> None:
        server = Listed(WHOLE)
        server.let.set()
        refused = await Dispatch(on_misfit="refuse").decide("t", {"n": "x"}, server.listing)
        assert refused.text == "An error occurred invoking 't': n must be a whole number."
        assert server.asked == 1

    asyncio.run(run())


@pytest.mark.parametrize("given_up", [0, 1, 2], ids=["the one that fetches", "one that waits", "another"])
def test_a_call_that_is_given_up_takes_no_other_with_it(given_up: int) -> None:
    async def run() -> None:
        server, dispatching = Listed(WHOLE), Dispatch()
        calls = start(dispatching, server, 3)
        await waiting()
        calls.pop(given_up).cancel()
        await waiting()
        server.let.set()
        assert [repr(one) for one in await asyncio.gather(*calls)] == ["{'n': 5}"] * 2
        assert server.asked == (1 if given_up else 2)

    asyncio.run(run())


def test_a_listing_that_fails_fails_for_those_that_wait_and_for_no_later_call() -> None:
    async def run() -> None:
        server, dispatching = Listed(WHOLE), Dispatch()
        server.fails = ConnectionError
        calls = start(dispatching, server, 5)
        await waiting()
        server.let.set()
        assert [repr(one) for one in await asyncio.gather(*calls)] == [repr(SENT)] * 5
        assert server.asked == 1
        server.fails = None
        assert repr(await dispatching.decide("t", SENT, server.listing)) == "{'n': 5}"

    asyncio.run(run())


def test_a_listing_that_hangs_holds_a_call_for_so_long_only(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(dispatch, "LISTING_SECONDS", 0.05)
    monkeypatch.setattr(dispatch, "PAUSE_SECONDS", -1)

    async def run() -> None:
        server, dispatching = Listed(WHOLE), Dispatch(on_misfit="refuse")
        calls = start(dispatching, server, 3)
        assert [repr(one) for one in await asyncio.wait_for(asyncio.gather(*calls), 20)] == [repr(SENT)] * 3
        server.let.set()
        assert repr(await dispatching.decide("t", SENT, server.listing)) == "{'n': 5}"

    with caplog.at_level(logging.DEBUG, logger="argfit"):
        asyncio.run(run())
    told = "DEBUG MCP tools could not be listed (not within 0.05 seconds)."
    assert told in [f"{one.levelname} {one.getMessage()}" for one in caplog.records]


def test_a_listing_that_hung_is_not_waited_for_by_every_call(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(anyio, "current_time", lambda: now[0])

    async def run() -> None:
        server, dispatching = Listed(WHOLE), Dispatch()
        for at, asked, waits in ((0, 1, True), (9, 2, True), (14, 2, False), (70, 2, False), (75, 3, True)):
            now[0] = at
            (call,) = start(dispatching, server)
            await waiting()
            assert (server.asked, not call.done()) == (asked, waits)
            now[0] += 5
            call.cancel()  # after so long
            await waiting()
        server.let.set()
        assert repr(await dispatching.decide("t", SENT, server.listing)) == "{'n': 5}"
        assert dispatching._waited == {}  # noqa: SLF001 - what is kept

    asyncio.run(run())


def test_a_listing_that_fails_late_is_not_waited_for_by_every_call(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(anyio, "current_time", lambda: now[0])
    asked: list[float] = []

    async def listing() -> Any:
        asked.append(now[0])
        now[0] += 6  # as long as a library waits itself
        raise TimeoutError

    async def run() -> None:
        dispatching = Dispatch()
        for _ in range(5):
            assert repr(await dispatching.decide("t", SENT, listing)) == repr(SENT)

    asyncio.run(run())
    assert asked == [0, 6]


def test_of_the_listings_that_hung_the_last_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "SERVERS", 2)

    async def run() -> None:
        server, dispatching = Listed(WHOLE), Dispatch()
        for name in "abc":
            call = asyncio.create_task(dispatching.decide("t", SENT, server.listing, server=Server(name)))
            await waiting()
            call.cancel()
            await waiting()
        assert [place[1].name for place in dispatching._waited] == ["b", "c"]  # noqa: SLF001 - what is kept

    asyncio.run(run())


def test_what_is_listed_wrongly_is_a_listing_that_failed() -> None:
    async def listing() -> Any:
        return 5

    assert repr(asyncio.run(Dispatch(on_misfit="refuse").decide("t", SENT, listing))) == repr(SENT)


@pytest.mark.parametrize("at_hand", [None, {"inputSchema": {"required": ["m"]}}], ids=["first", "to be refused"])
def test_a_call_that_waits_goes_as_it_was_made(at_hand: Any) -> None:
    async def run() -> None:
        server, dispatching = Listed(WHOLE), Dispatch(on_misfit="refuse")
        sent: dict[str, Any] = {"n": 5.0, "more": [1]}
        call = asyncio.create_task(dispatching.decide("t", sent, server.listing, tool=at_hand))
        await waiting()
        sent["n"] = 6.0
        sent["more"].append(2)
        server.let.set()
        assert repr(await call) == "{'n': 5, 'more': [1]}"

    asyncio.run(run())


def test_calls_on_several_loops_wait_each_for_their_own() -> None:
    dispatching = Dispatch(on_misfit="refuse")
    together = threading.Barrier(4, timeout=60)
    came: list[str] = []

    async def call() -> None:
        async def listing() -> list[Any]:
            await asyncio.to_thread(together.wait)  # all four are at it at once
            return [WHOLE]

        decided = await asyncio.gather(*(dispatching.decide("t", SENT, listing) for _ in range(5)))
        came.extend(map(repr, decided))

    loops = [threading.Thread(target=lambda: asyncio.run(call())) for _ in range(4)]
    for loop in loops:
        loop.start()
    for loop in loops:
        loop.join(60)
    assert came == ["{'n': 5}"] * 20


def test_tools_of_one_name_are_told_apart_by_their_servers() -> None:
    async def run() -> None:
        servers = {"a": Listed(WHOLE), "b": Listed(TEXT)}
        dispatching = Dispatch(on_misfit="refuse")
        for server in servers.values():
            server.let.set()
        for _ in range(2):
            listings = {name: server.listing for name, server in servers.items()}
            assert repr(await dispatching.decide("t", SENT, listings["a"], server=Server("a"))) == "{'n': 5}"
            assert isinstance(await dispatching.decide("t", SENT, listings["b"], server=Server("b")), Refusal)
        assert (servers["a"].asked, servers["b"].asked) == (1, 2)

    asyncio.run(run())


def test_tools_of_one_name_at_hand_are_compiled_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[Any] = []

    class Counting(Fitter):
        def __init__(self, schema: Any, **options: Any) -> None:
            compiled.append(schema)
            super().__init__(schema, **options)

    monkeypatch.setattr(catalog, "Fitter", Counting)

    async def run() -> None:
        server, dispatching = Listed(), Dispatch()
        for _ in range(3):
            for name, tool in (("a", WHOLE), ("b", TEXT), ("c", WHOLE)):
                await dispatching.decide("t", SENT, server.listing, tool=tool, server=Server(name))
        assert server.asked == 0

    asyncio.run(run())
    assert len(compiled) == 2


def test_a_tool_at_hand_counts_until_a_call_is_to_be_refused() -> None:
    async def run() -> None:
        server = Listed(TEXT)
        server.let.set()
        for on_misfit, asked in (("forward", 0), ("refuse", 1)):
            dispatching = Dispatch(on_misfit=on_misfit)
            assert await dispatching.decide("t", {"n": "x"}, server.listing, tool=WHOLE) == {"n": "x"}
            assert server.asked == asked

    asyncio.run(run())


@pytest.mark.parametrize(
    ("came", "went"),
    [
        ({"n": (5.0, 6)}, "{'n': [5, 6]}"),
        ({"n": (number for number in (5.0, 6))}, "{'n': [5, 6]}"),
        (MappingProxyType({"n": [5.0]}), "{'n': [5]}"),
        ({"n": [Decimal("5.0")]}, "'t': n[0] must be a whole number."),
        ({"n": [5.0], "day": date(2026, 1, 1)}, "{'n': [5], 'day': '2026-01-01'}"),
        ({"n": [5.0], "by": {1: None}}, "{'n': [5], 'by': {'1': None}}"),
    ],
)
def test_what_is_no_json_is_fitted_as_a_library_writes_it(came: Any, went: str) -> None:
    async def run() -> Any:
        properties = {"n": {"items": {"type": "integer"}}, "day": {"type": "string"}, "by": {"type": "object"}}
        server = Listed({"name": "t", "inputSchema": {"properties": properties}})
        server.let.set()
        return await Dispatch(on_misfit="refuse").decide("t", came, server.listing)

    decided = asyncio.run(run())
    assert repr(decided) == went if isinstance(decided, dict) else decided.text.endswith(went)


def test_what_no_library_can_write_goes_as_it_came() -> None:
    holds_itself: dict[str, Any] = {"n": "x"}
    holds_itself["m"] = holds_itself

    async def run() -> None:
        server = Listed(WHOLE)
        server.let.set()
        for came in ({"n": object()}, {"n": "x", 1: 2}, {"n": b"\xff"}, holds_itself, date(2026, 1, 1)):
            assert await Dispatch(on_misfit="refuse").decide("t", came, server.listing) is came

    asyncio.run(run())


def versioned(tool: dict[str, Any], version: str) -> dict[str, Any]:
    return {**tool, "_meta": {"fastmcp": {"version": version}}}


def test_a_call_that_names_a_version_is_fitted_by_that_version_or_not_at_all() -> None:
    async def run() -> None:
        server = Listed(versioned(TEXT, "2"), versioned(WHOLE, "1"))
        server.let.set()
        dispatching = Dispatch(on_misfit="refuse")
        assert isinstance(await dispatching.decide("t", SENT, server.listing), Refusal)
        assert server.asked == 1
        assert repr(await dispatching.decide(("t", "1"), SENT, server.listing)) == "{'n': 5}"
        assert isinstance(await dispatching.decide(("t", "2"), SENT, server.listing), Refusal)
        assert await dispatching.decide(("t", "3"), SENT, server.listing) is SENT
        assert server.asked == 2
        for at_hand, went in ((versioned(WHOLE, "3"), "{'n': 5}"), (versioned(WHOLE, "4"), "{'n': 5.0}")):
            assert repr(await dispatching.decide(("t", "3"), SENT, server.listing, tool=at_hand)) == went

    asyncio.run(run())


def test_a_call_that_is_made_again_goes_as_it_went_the_first_time() -> None:
    async def run() -> None:
        server, dispatching = Listed(WHOLE), Dispatch(on_misfit="refuse")
        server.let.set()
        first = await dispatching.decide("t", SENT, server.listing)
        dispatching.asked("state", "t", SENT, first)
        server.tools = (TEXT,)
        assert isinstance(await dispatching.decide("t", {"n": "x", "m": 1}, server.listing), dict)  # listed anew
        again: Callable[..., Awaitable[Any]] = lambda name, arguments, state: dispatching.decide(  # noqa: E731
            name, arguments, server.listing, state=state
        )
        assert await again("t", {"n": 5.0}, "state") is first
        for name, arguments, state in (("t", SENT, "other"), ("t", SENT, None), ("t", {"n": True}, "state")):
            assert isinstance(await again(name, arguments, state), Refusal)
        assert repr(await again("u", SENT, "state")) == repr(SENT)

    asyncio.run(run())


def test_a_call_whose_arguments_are_no_json_goes_again_as_it_went() -> None:
    async def run() -> None:
        server, dispatching = Listed(WHOLE), Dispatch()
        server.let.set()
        sent = {"n": 5.0, "at": (date(2026, 1, 1), 2)}
        first = await dispatching.decide("t", sent, server.listing)
        dispatching.asked("state", "t", sent, first)
        dispatching.learn(Server(), [TEXT])
        assert await dispatching.decide("t", sent, server.listing, state="state") is first

    asyncio.run(run())


@pytest.mark.parametrize("levels", [400, 5_000])
def test_a_call_that_nests_beyond_what_can_be_sent_goes_again_as_it_came(levels: int) -> None:
    deep: Any = 5.0
    for _ in range(levels):
        deep = {"n": deep}

    async def run() -> None:
        server, dispatching = Listed(WHOLE), Dispatch()
        dispatching.asked("state", "t", deep, deep)
        server.let.set()
        assert await dispatching.decide("t", deep, server.listing, state="state") is deep

    asyncio.run(run())


def test_of_the_calls_that_may_be_made_again_the_last_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "STATES", 2)

    async def run() -> None:
        server, dispatching = Listed(), Dispatch()
        server.let.set()
        for state in "abc":
            dispatching.asked(state, "t", SENT, {"sent with": state})
        assert [await dispatching.decide("t", SENT, server.listing, state=state) for state in "abc"] == [
            SENT,
            {"sent with": "b"},
            {"sent with": "c"},
        ]

    asyncio.run(run())


def test_a_server_is_listed_once_more_before_a_repair_is_sent_and_not_before_a_spelling() -> None:
    async def run() -> None:
        server = Listed(WHOLE)
        server.let.set()
        for at_hand in (None, WHOLE):
            dispatching = Dispatch(repairs=["unquote"])
            server.asked, server.tools = 0, (WHOLE,)
            assert repr(await dispatching.decide("t", SENT, server.listing, tool=at_hand)) == "{'n': 5}"
            assert server.asked == (at_hand is None)
            assert await dispatching.decide("t", {"n": "5"}, server.listing, tool=at_hand) == {"n": 5}
            server.tools = (TEXT,)
            assert await dispatching.decide("t", {"n": "5"}, server.listing, tool=at_hand) == {"n": "5"}
            assert server.asked == 2 + (at_hand is None)

    asyncio.run(run())


def test_a_repair_is_made_by_what_is_known_where_the_server_cannot_be_listed_once_more() -> None:
    async def run() -> None:
        server = Listed()
        server.let.set()
        server.fails = ConnectionError
        dispatching = Dispatch(repairs=["unquote"])
        assert await dispatching.decide("t", {"n": "5"}, server.listing, tool=WHOLE) == {"n": 5}

    asyncio.run(run())


def test_a_listing_counts_for_the_connection_that_it_came_on() -> None:
    class Unhashable:
        __hash__ = None  # type: ignore[assignment]

    class Connection:
        session: Any = None

    async def run() -> None:
        server, dispatching, client = Listed(WHOLE), Dispatch(), Connection()
        server.let.set()
        for asked, tool in ((1, WHOLE), (2, TEXT)):
            server.tools = (tool,)
            client.session = Connection()
            for _ in range(2):
                here = Server(connection=connection_of(client))
                went = await dispatching.decide("t", SENT, server.listing, server=here)
            assert (repr(went), server.asked) == ("{'n': 5}" if tool is WHOLE else "{'n': 5.0}", asked)
        assert len(dispatching._places) == len(dispatching._catalog._servers) == 1  # noqa: SLF001 - what is kept
        assert connection_of(object()) is None
        assert connection_of(SimpleNamespace(session=Unhashable())) is None

    asyncio.run(run())


def test_a_listing_that_a_program_asks_for_counts_for_the_connection_that_it_was_asked_on() -> None:
    class Connection:
        session: Any = None

    async def run() -> None:
        server, dispatching, client = Listed(TEXT), Dispatch(), Connection()
        old = client.session = Connection()

        async def list_page() -> Any:
            client.session = Connection()
            return [WHOLE]

        await learning(dispatching, client, list_page)()
        server.let.set()
        for session, went in ((client.session, "{'n': 5.0}"), (old, "{'n': 5}")):
            here = Server(connection=ref(session))
            assert repr(await dispatching.decide("t", SENT, server.listing, server=here)) == went

    asyncio.run(run())


def test_of_servers_and_connections_the_last_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "SERVERS", 2)

    async def run() -> None:
        server, dispatching = Listed(WHOLE), Dispatch()
        server.let.set()
        for name in "abcca":
            await dispatching.decide("t", SENT, server.listing, server=Server("s", name))
        assert server.asked == 4
        assert len(dispatching._catalog._servers) == 2  # noqa: SLF001 - what is kept

    asyncio.run(run())


def test_a_listing_that_comes_after_its_server_was_forgotten_is_kept_once() -> None:
    async def run() -> None:
        server, dispatching = Listed(WHOLE), Dispatch()
        (call,) = start(dispatching, server)
        await waiting()
        dispatching.learn(Server(), [TEXT])
        dispatching.forget(Server())
        server.let.set()
        assert repr(await call) == "{'n': 5}"
        assert repr(await dispatching.decide("t", SENT, server.listing)) == "{'n': 5}"
        assert (server.asked, len(dispatching._catalog._servers)) == (1, 1)  # noqa: SLF001 - what is kept

    asyncio.run(run())


def test_a_server_that_is_forgotten_while_its_listing_is_read_leaves_nothing_behind() -> None:
    dispatching = Dispatch()

    def tools() -> Any:
        yield WHOLE
        dispatching.forget(Server())  # as another thread may

    dispatching.learn(Server(), tools())
    assert dispatching._catalog._servers == {}  # noqa: SLF001 - what is kept


def test_what_a_program_was_told_is_learned_and_what_it_forgets_is_forgotten() -> None:
    async def run() -> None:
        server, dispatching = Listed(WHOLE), Dispatch()
        server.let.set()
        other = {**TEXT, "name": "u"}
        for page, whole, asked in (([TEXT, other], True, 0), ([WHOLE], False, 0), (5, True, 0), ([], True, 1)):
            dispatching.learn(Server(), page, whole=whole)
            await dispatching.decide("u", SENT, server.listing)
            assert server.asked == asked
            went = await dispatching.decide("t", SENT, server.listing)
            assert repr(went) == ("{'n': 5.0}" if page == [TEXT, other] else "{'n': 5}")
        dispatching.forget(Server())
        await dispatching.decide("t", SENT, server.listing)
        assert server.asked == 2

    asyncio.run(run())


def test_a_dispatch_goes_elsewhere_with_its_settings_and_without_its_connections() -> None:
    async def run() -> None:
        server = Listed(WHOLE)
        server.let.set()
        first = Dispatch(repairs=iter(["unquote"]), formats=iter(["date"]), on_misfit="refuse")
        await first.decide("t", SENT, server.listing, server=Server(ref(server)))
        for other in (pickle.loads(pickle.dumps(first)), copy.deepcopy(first)):  # noqa: S301 - its own
            assert await other.decide("t", {"n": "5"}, server.listing) == {"n": 5}
            assert isinstance(await other.decide("t", {"n": "x"}, server.listing), Refusal)

    asyncio.run(run())


@pytest.mark.parametrize("spelled", ["next_cursor", "nextCursor"])
@pytest.mark.parametrize(
    ("cursors", "asked"),
    [
        ([None], [None]),
        ([""], [None]),
        (["2", "3", None], [None, "2", "3"]),
        (["2", "2"], [None, "2"]),
        (["2", "3", "2", "4"], [None, "2", "3"]),
    ],
)
def test_a_listing_is_followed_page_by_page_and_in_no_circle(
    spelled: str, cursors: list[str | None], asked: list[str | None]
) -> None:
    followed: list[str | None] = []

    async def page(cursor: str | None) -> Any:
        followed.append(cursor)
        return SimpleNamespace(tools=[cursor], **{spelled: cursors[len(followed) - 1]})

    assert asyncio.run(all_tools(page)) == followed == asked


def test_a_listing_that_has_no_end_has_one_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "PAGES", 3)

    async def page(cursor: str | None) -> Any:
        return SimpleNamespace(tools=[cursor], next_cursor=f"{cursor}+")

    assert len(asyncio.run(all_tools(page))) == 3
