"""What becomes of a call in a client: fitted by its server's own listing, then sent or refused.

Rules
- A server is listed when a tool of it is first called, again where a tool is not known, and once more before a call is
  refused: what changed meanwhile is not told to clients of 2026-07-28 that do not listen.
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

Listing = Callable[[], Awaitable[Iterable[Any]]]


class Refusal:
    """The answer to a call that is not sent: the text for the model, the problems as data."""

    def __init__(self, tool: str, fit: Fit) -> None:
        self.text = text_of(tool, fit)
        self.meta = meta_of(fit)


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

    async def decide(self, tool: str, arguments: Any, listing: Listing) -> Any | Refusal:
        """The arguments to send, or the refusal to give; None stays None."""
        if self._catalog.input_schema(tool) is None:
            await self._list(listing)
        fit, plan = self._catalog.looked_at(tool, arguments)
        if not fit.ok and self._refuses:
            await self._list(listing)
            fit, plan = self._catalog.looked_at(tool, arguments)
        if plan is None:
            return arguments
        self._catalog.notes.take(tool, plan, fit)
        if not fit.ok and self._refuses:
            write(record.misfit(tool, plan, fit.problems))
            return Refusal(tool, fit)
        return None if arguments is None else fit.arguments

    async def _list(self, listing: Listing) -> None:
        try:
            tools = await listing()
        except Exception as error:  # noqa: BLE001 - whatever the library raises, the call itself will tell
            LOGGER.debug("MCP tools could not be listed (%s).", type(error).__name__)
        else:
            self._catalog.update("", tools)
