"""What becomes of a call in a client: fitted by its server's own listing, then sent or refused.

Rules
- A server is listed when a tool of it is first called, again where a tool is not known, and once more before a call is
  refused or a repair of it is sent: what changed meanwhile is not told to clients of 2026-07-28 that do not listen.
- A listing counts for the connection that it came on. One that the program itself asks for counts, too.
- Calls that want the same listing at once share it. One of them fetches it, in its own time and on its own loop; where
  that one is given up, the next that waits does.
- Where a library has the tool of a call at hand, that one counts until a call is to be refused or repaired.
- A call that names a version of its tool (in its `_meta`, as FastMCP's do) is fitted by that version's schema or not at
  all. That another version is listed is no reason to list the server again.
- Where a server cannot be listed, or not in time, a call goes by what is known of its tool; as it came where that is
  nothing. Calls that come then do not wait for it in their turn: in a minute, one tries again.
- What is judged, and sent, is the JSON that a library writes: the text of a date, a list for a tuple. What it can write
  none of goes as it came, and fails as it would have.
- A call that is made again, with the state by which its server asked for more, goes as it went the first time: the
  server holds it against what it was sent (`requestState`, 2026-07-28).
"""

from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping
from contextlib import suppress
from copy import deepcopy
from functools import partial, wraps
from itertools import count
from typing import Any, NamedTuple
from weakref import ReferenceType, ref

import anyio  # which comes with every SDK that there is an adapter for
import msgspec
from anyio.lowlevel import current_token
from pydantic_core import to_jsonable_python  # which does, too, and writes what they send

from argfit.catalog import Name, ToolCatalog, version_of
from argfit.core import record
from argfit.core.choices import REPAIRS, chosen, formats_named, repairs_named
from argfit.core.fit import Fit
from argfit.core.refusal import meta_of, text_of
from argfit.core.values import is_json, same
from argfit.log import LOGGER, write

ON_MISFIT = ("forward", "refuse")

LISTING_SECONDS = 10.0  # that calls wait for a listing: no timeout of a call itself covers it
PAUSE_SECONDS = 60.0  # after which they wait again for one that did not come
PAGES = 1_000  # of a listing; as the proxy has it
STATES = 1_000  # by which servers asked for more, and calls may yet be made again
SERVERS = 100  # and connections, whose listings are kept: a library with very many has their tools at hand

Listing = Callable[[], Awaitable[Any]]


class Server(NamedTuple):
    """A server, and the connection to it, or what else its listing depends on."""

    name: Hashable = ""
    connection: Hashable = None


ONLY = Server()  # of a client that has no other


class Refusal:
    """The answer to a call that is not sent: `text` for the model, or a whole `result` as a server would send it."""

    def __init__(self, tool: str, fit: Fit) -> None:
        self.text = text_of(tool, fit)
        self.result: dict[str, Any] = {
            "content": [{"type": "text", "text": self.text}],
            "isError": True,
            "_meta": meta_of(fit),
        }


class _Going(msgspec.Struct):
    """A listing that one call fetches and others wait for; `came` is None where it was given up."""

    ended: anyio.Event
    came: bool | None = None


class _Waited(msgspec.Struct, frozen=True):
    """How long calls have waited in vain for a listing, and until when."""

    seconds: float
    until: float


class _Sent(msgspec.Struct, frozen=True):
    """A call of which its server asked more: what came, and what was sent of it."""

    tool: Name
    came: Any
    went: Any


class Dispatch:
    """The calls of one client, to one server or to several.

    `repairs` and `formats` are those of `Fitter`; `on_misfit` says what becomes of a call that does not fit: `forward`
    sends it as far as it was fitted, `refuse` answers it here. Safe on several event loops. Raises ValueError for a
    name that is none of these.
    """

    def __init__(
        self, *, repairs: Iterable[str] | str = (), formats: Iterable[str] | str = (), on_misfit: str = "forward"
    ) -> None:
        self._refuses = chosen("on_misfit", on_misfit, ON_MISFIT) == "refuse"
        options: dict[str, Any] = {"repairs": repairs_named(repairs), "formats": formats_named(formats)}
        self._again = partial(Dispatch, on_misfit=on_misfit, **options)
        self._catalog = ToolCatalog(**options)
        self._places: dict[Server, str] = {}  # by which the catalog knows them
        self._counting = count(1)
        self._going: dict[Any, _Going] = {}  # by loop and server
        self._waited: dict[Any, _Waited] = {}  # by loop and server, too
        self._asked: dict[str, _Sent] = {}  # by the state that came with it

    def __reduce__(self) -> Any:
        return self._again, ()  # elsewhere there are other connections

    async def decide(
        self,
        name: Name,
        arguments: Any,
        listing: Listing,
        *,
        tool: Any = None,
        server: Server = ONLY,
        state: str | None = None,
    ) -> Any | Refusal:
        """The arguments to send, or the refusal to give; None stays None.

        `tool` is the tool of this call where the library has it at hand, else the listing of `server` counts, as
        `listing` fetches it; both as `ToolCatalog.update` takes them. `state` is that of a call that is made again.
        """
        before = None if state is None else self._asked.get(state)
        try:
            arguments = _written(arguments)
            if before is not None and before.tool == name and same(before.came, arguments):
                return before.went
        except Exception:  # noqa: BLE001 - whatever a value raises where it is written, its sender will tell
            return arguments
        wanted, version = name, None
        if isinstance(name, tuple):
            name, version = name
        if version is not None and tool is not None and version_of(tool) != version:
            tool = None
        known = tool is not None or self._catalog.knows(name, self._places.get(server, ""))
        fresh = False
        if not known:
            arguments = as_now(arguments)
            fresh = await self._listed(server, listing)
        fit, plan = self._catalog.looked_at(wanted, arguments, self._places.get(server, ""), at_hand=tool)
        if self._weighs(fit) and not fresh:
            arguments = as_now(arguments)
            if await self._listed(server, listing):
                tool = None
            fit, plan = self._catalog.looked_at(wanted, arguments, self._places.get(server, ""), at_hand=tool)
        if plan is None:
            return arguments
        self._catalog.notes.take(name, plan, fit, server.name)
        if not fit.ok and self._refuses:
            write(record.misfit(name, plan, fit.problems))
            return Refusal(name, fit)
        return None if arguments is None else fit.arguments

    def _weighs(self, fit: Fit) -> bool:
        """Whether more than a spelling hangs on the schema being the one that counts now."""
        return (self._refuses and not fit.ok) or any(change.rule in REPAIRS for change in fit.changes)

    def learn(self, server: Server, tools: Any, *, whole: bool = True) -> None:
        """Take note of what a program was told that a server lists, on one page or (`whole`) on all."""
        with suppress(TypeError):  # it is no listing, as the program will see
            self._keep(server, tools, whole=whole)

    def forget(self, server: Server) -> None:
        """Have a server listed anew when it is next called."""
        place = self._places.pop(server, None)
        if place is not None:
            self._catalog.remove(place)

    def _keep(self, server: Server, tools: Any, *, whole: bool = True) -> None:
        place = self._place(server)
        (self._catalog.update if whole else self._catalog.add)(place, tools)
        if self._places.get(server) != place:  # another thread forgot it meanwhile
            self._catalog.remove(place)

    def _place(self, server: Server) -> str:
        if server not in self._places:
            known = list(self._places)
            for old in [*filter(_is_gone, known), *known[: 1 - SERVERS]]:
                self.forget(old)
        return self._places.setdefault(server, str(next(self._counting)))

    def asked(self, state: str, name: Name, arguments: Any, sent: Any) -> None:
        """Keep a call of which its server asked more, under the state that came with that; no one is to alter it."""
        with suppress(Exception):  # as above: what was sent could be written
            self._asked[state] = _Sent(name, _written(arguments), sent)
        for old in list(self._asked)[:-STATES]:
            self._asked.pop(old, None)

    async def _listed(self, server: Server, listing: Listing) -> bool:
        """Have a server listed, by this call or by one that is at it; whether that was done, and in time."""
        place = (current_token(), server)
        left = LISTING_SECONDS - self._waited_for(place)
        if left <= 0:
            return False
        with anyio.move_on_after(left):
            while (going := self._going.get(place)) is not None:
                await going.ended.wait()
                if going.came is not None:
                    return going.came
            return await self._list(place, listing)
        LOGGER.debug("MCP tools could not be listed (not within %g seconds).", LISTING_SECONDS)
        return False

    async def _list(self, place: tuple[Any, Server], listing: Listing) -> bool:
        going = self._going[place] = _Going(anyio.Event())
        waited, began = self._waited_for(place), anyio.current_time()
        try:
            tools = await listing()
            self._keep(place[1], tools)
            going.came = True
        except Exception as error:  # noqa: BLE001 - whatever the library raises, the call itself will tell
            LOGGER.debug("MCP tools could not be listed (%s).", type(error).__name__)
            going.came = False
        finally:
            self._waited.pop(place, None)
            if not going.came:
                until = anyio.current_time()
                self._waited[place] = _Waited(waited + until - began, until)
                for old in list(self._waited)[:-SERVERS]:
                    self._waited.pop(old, None)
            del self._going[place]
            going.ended.set()
        return going.came

    def _waited_for(self, place: tuple[Any, Server]) -> float:
        waited = self._waited.get(place)
        return 0.0 if waited is None or anyio.current_time() - waited.until > PAUSE_SECONDS else waited.seconds


def _written(arguments: Any) -> Any:
    """Arguments as a library writes them (mcp/client/session.py, send_request); the same object where it is JSON."""
    if is_json(arguments):
        return arguments
    if not (isinstance(arguments, Mapping) and all(isinstance(name, str) for name in arguments)):
        raise TypeError("no library takes such arguments")
    return to_jsonable_python(dict(arguments), by_alias=True, exclude_none=True)


def as_now(value: Any) -> Any:
    """A copy for a call that may wait, whose caller may alter its own meanwhile; what cannot be copied as it is."""
    with suppress(Exception):
        return deepcopy(value)
    return value


def beside(args: Iterable[Any], kwargs: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """What goes beside the arguments of a call, such as its `_meta`, as it is now."""
    here = [as_now(part) if isinstance(part, dict) else part for part in args]
    return here, {name: as_now(part) if isinstance(part, dict) else part for name, part in kwargs.items()}


def connection_of(client: Any) -> Hashable:
    """The connection of a client that has a `session`; None where it is not connected, as the call itself will tell."""
    try:
        connection = ref(client.session)
        hash(connection)  # some other library's own may have none
    except Exception:  # noqa: BLE001 - as above
        return None
    return connection


def learning(dispatch: Dispatch, client: Any, list_page: Callable[..., Any]) -> Callable[..., Any]:
    """A method of a client that lists a page of its server's tools, as one from which they are learned."""

    @wraps(list_page)
    async def list_tools(*args: Any, **kwargs: Any) -> Any:
        here = Server(connection=connection_of(client))  # as long as it is listed, there may come another
        result = await list_page(*args, **kwargs)
        began = kwargs.get("cursor") or getattr(kwargs.get("params"), "cursor", None)
        whole = not began and not getattr(result, "next_cursor", None)
        dispatch.learn(here, result, whole=whole)
        return result

    return list_tools


def _is_gone(server: Server) -> bool:
    return any(isinstance(part, ReferenceType) and part() is None for part in server)


async def all_tools(page: Callable[[str | None], Awaitable[Any]]) -> list[Any]:
    """The tools of all pages of a listing, of which `page` fetches the one that a cursor leads to."""
    found: list[Any] = []
    cursor: str | None = None
    seen: set[str] = set()
    for _ in range(PAGES):
        result = await page(cursor)
        found += result.tools
        cursor = result.next_cursor if hasattr(result, "next_cursor") else result.nextCursor  # mcp 2, or mcp 1
        if not cursor or cursor in seen:
            break
        seen.add(cursor)
    return found
