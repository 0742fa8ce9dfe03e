"""What becomes of a call in a client: fitted by its server's own listing, then sent or refused.

Rules
- A server is listed when a tool of it is first called, again where a tool is not known, and once more before a call is
  refused: what changed meanwhile is not told to clients of 2026-07-28 that do not listen.
- Calls that want the same listing at once share it. One of them fetches it, in its own time and on its own loop; where
  that one is given up, the next that waits does.
- Where a library has the tool of a call at hand, that one counts until a call is to be refused.
- A call that names a version of its tool (in its `_meta`, as FastMCP's do) is fitted by that version's schema or not at
  all. That another version is listed is no reason to list the server again.
- Where a server cannot be listed, or not in time, a call goes as it came.
- A call that is made again, with the state by which its server asked for more, goes as it went the first time: the
  server holds it against what it was sent (`requestState`, 2026-07-28).
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import anyio  # which comes with every SDK that there is an adapter for
import msgspec
from anyio.lowlevel import current_token

from argfit.catalog import Name, ToolCatalog, version_of
from argfit.core import record
from argfit.core.choices import chosen
from argfit.core.fit import Fit
from argfit.core.refusal import meta_of, text_of
from argfit.core.values import same
from argfit.log import LOGGER, write

ON_MISFIT = ("forward", "refuse")

LISTING_SECONDS = 10.0  # that a call waits for a listing: no timeout of the call itself covers it
PAGES = 1_000  # of a listing; as the proxy has it
STATES = 1_000  # by which servers asked for more, and calls may yet be made again

Listing = Callable[[], Awaitable[Any]]


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


class _Sent(msgspec.Struct, frozen=True):
    """A call of which its server asked more: what came, and what was sent of it."""

    tool: str
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
        self._catalog = ToolCatalog(repairs=repairs, formats=formats)
        self._going: dict[Any, _Going] = {}  # by loop and server
        self._asked: dict[str, _Sent] = {}  # by the state that came with it

    async def decide(
        self,
        name: Name,
        arguments: Any,
        listing: Listing,
        *,
        tool: Any = None,
        server: str = "",
        state: str | None = None,
    ) -> Any | Refusal:
        """The arguments to send, or the refusal to give; None stays None.

        `tool` is the tool of this call where the library has it at hand, else the listing of `server` counts, as
        `listing` fetches it; both as `ToolCatalog.update` takes them. `state` is that of a call that is made again.
        """
        before = None if state is None else self._asked.get(state)
        if before is not None and before.tool == name and same(before.came, arguments):
            return before.went
        wanted, version = name, None
        if isinstance(name, tuple):
            name, version = name
        if version is not None and tool is not None and version_of(tool) != version:
            tool = None
        fresh = tool is None and not self._catalog.knows(name, server) and await self._listed(server, listing)
        fit, plan = self._catalog.looked_at(wanted, arguments, server, at_hand=tool)
        if not fit.ok and self._refuses and not fresh and await self._listed(server, listing):
            fit, plan = self._catalog.looked_at(wanted, arguments, server)
        if plan is None:
            return arguments
        self._catalog.notes.take(name, plan, fit)
        if not fit.ok and self._refuses:
            write(record.misfit(name, plan, fit.problems))
            return Refusal(name, fit)
        return None if arguments is None else fit.arguments

    def asked(self, state: str, name: str, arguments: Any, sent: Any) -> None:
        """Keep what was sent in a call of which its server asked more, under the state that came with that."""
        self._asked[state] = _Sent(name, arguments, sent)
        for old in list(self._asked)[:-STATES]:
            self._asked.pop(old, None)

    async def _listed(self, server: str, listing: Listing) -> bool:
        """Have a server listed, by this call or by one that is at it; whether that was done, and in time."""
        place = (current_token(), server)
        with anyio.move_on_after(LISTING_SECONDS):
            while (going := self._going.get(place)) is not None:
                await going.ended.wait()
                if going.came is not None:
                    return going.came
            return await self._list(place, listing)
        LOGGER.debug("MCP tools could not be listed (not within %g seconds).", LISTING_SECONDS)
        return False

    async def _list(self, place: tuple[Any, str], listing: Listing) -> bool:
        going = self._going[place] = _Going(anyio.Event())
        try:
            self._catalog.update(place[1], await listing())
            going.came = True
        except Exception as error:  # noqa: BLE001 - whatever the library raises, the call itself will tell
            LOGGER.debug("MCP tools could not be listed (%s).", type(error).__name__)
            going.came = False
        finally:
            del self._going[place]
            going.ended.set()
        return going.came


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
