"""What becomes of a call in a client: fitted by its server's own listing, then sent or refused.

Rules
- A server is listed when a tool of it is first called, again where a tool is not known, and once more before a call is
  refused: what changed meanwhile is not told to clients of 2026-07-28 that do not listen.
- Where a library has the tool of a call at hand, that one counts until a call is to be refused.
- Where a server cannot be listed a call goes as it came.
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from argfit.catalog import ToolCatalog
from argfit.core import record
from argfit.core.choices import chosen
from argfit.core.fit import Fit
from argfit.core.refusal import meta_of, text_of
from argfit.log import LOGGER, write

ON_MISFIT = ("forward", "refuse")

LISTED = ""  # what the server lists, among the catalog's servers; a tool at hand stands under its own name

Listing = Callable[[], Awaitable[Iterable[Any]]]


class Refusal:
    """The answer to a call that is not sent: `text` for the model, or a whole `result` as a server would send it."""

    def __init__(self, tool: str, fit: Fit) -> None:
        self.text = text_of(tool, fit)
        self.result: dict[str, Any] = {
            "content": [{"type": "text", "text": self.text}],
            "isError": True,
            "_meta": meta_of(fit),
        }


class Dispatch:
    """The calls of one client to one server.

    `repairs` and `formats` are those of `Fitter`; `on_misfit` says what becomes of a call that does not fit: `forward`
    sends it as far as it was fitted, `refuse` answers it here. Raises ValueError for a name that is none of these.
    """

    def __init__(
        self, *, repairs: Iterable[str] | str = (), formats: Iterable[str] | str = (), on_misfit: str = "forward"
    ) -> None:
        self._refuses = chosen("on_misfit", on_misfit, ON_MISFIT) == "refuse"
        self._catalog = ToolCatalog(repairs=repairs, formats=formats)

    async def decide(self, name: str, arguments: Any, listing: Listing, *, tool: Any = None) -> Any | Refusal:
        """The arguments to send, or the refusal to give; None stays None.

        `tool` is the tool of this call where the library has it at hand, as `ToolCatalog.update` takes it; else the
        server's own listing counts, as `listing` fetches it.
        """
        if tool is not None:
            self._catalog.update(name, [tool])
        elif self._catalog.input_schema(name, LISTED) is None:
            await self._list(listing)
        fit, plan = self._catalog.looked_at(name, arguments, LISTED if tool is None else name)
        if not fit.ok and self._refuses and await self._list(listing):
            fit, plan = self._catalog.looked_at(name, arguments, LISTED)
        if plan is None:
            return arguments
        self._catalog.notes.take(name, plan, fit)
        if not fit.ok and self._refuses:
            write(record.misfit(name, plan, fit.problems))
            return Refusal(name, fit)
        return None if arguments is None else fit.arguments

    async def _list(self, listing: Listing) -> bool:
        try:
            tools = await listing()
        except Exception as error:  # noqa: BLE001 - whatever the library raises, the call itself will tell
            LOGGER.debug("MCP tools could not be listed (%s).", type(error).__name__)
            return False
        self._catalog.update(LISTED, tools)
        return True
