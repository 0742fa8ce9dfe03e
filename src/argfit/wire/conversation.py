"""One client and one server, message by message: what is fitted, asked, refused and explained.

Rules (contract, section 8)
- A message that needs no change is the very bytes that came.
- A call that carries `requestState` is fitted as its first leg was: the server may have bound that state to a
  hash of the arguments (official SDK, request_state.py).
- A call that is right by a listing whose time is up goes as it is: to leave a call alone, nothing need be asked.
- Nothing here waits: a call whose schema is not known is `Ask`ed for, and offered again.
- Every request of the client is tracked until it is answered, so that none is left open when the server ends.
"""

from collections import OrderedDict

import msgspec

from argfit.core import record
from argfit.core import spans as json_spans
from argfit.core.engine import Engine
from argfit.core.fit import Fit, fit_text, fit_value
from argfit.core.plan import Plan
from argfit.core.record import Log
from argfit.wire import reply
from argfit.wire.asking import Ask, Asking, keep
from argfit.wire.explaining import Explaining, Misfit, result_of
from argfit.wire.message import (
    Call,
    Id,
    Message,
    UnsureMessage,
    arguments_span,
    batch_members,
    id_of,
    is_json,
    raw_id,
    read_call,
    read_message,
    value_of,
)
from argfit.wire.tools import Chosen, Engines, Tools

# What is in a server's messages that change what is known: a state to carry, a listing that is no more.
_STATE, _CHANGED = b"requestState", b"list_changed"


class Settings(msgspec.Struct, frozen=True):
    """What the operator chose: `forward`, `explain` or `refuse`, what to leave out, to log, to repair, to judge."""

    on_misfit: str = "explain"
    strip: frozenset[str] = frozenset()
    verbose: bool = False
    repairs: Chosen = Chosen()
    formats: Chosen = Chosen()


class Verdict(msgspec.Struct, frozen=True):
    """What becomes of a client's message: `forward` to the server (if anything), `answers` to the client."""

    forward: bytes
    answers: bytes = b""


class _Open(msgspec.Struct):
    """A request of the client that has no answer yet."""

    id: bytes
    method: str
    generation: int = 0  # of the tools, when it was sent
    tool: str = ""
    task_id: str = ""
    engine: Engine | None = None  # what a call was fitted with
    misfit: Misfit | None = None


class Memory:
    """What is known of one server by one client; `token` makes the ids of our questions unguessable.

    `greets` says that the client's handshake comes by here, and nothing is asked before it; `engines` are those that it
    shares with others.
    """

    def __init__(self, settings: Settings, token: str, *, greets: bool = True, engines: Engines | None = None) -> None:
        self.tools = Tools(engines or Engines(settings.strip, settings.repairs, settings.formats))
        self.asking = Asking(self.tools, token, greets=greets)
        self.explaining = Explaining()
        self.legs: OrderedDict[int, _Open] = OrderedDict()  # by the hash of a state, which may be long and secret


class Conversation:
    """The state between one client and one server: of a connection, or of one request where each has its own."""

    def __init__(self, settings: Settings, memory: Memory) -> None:
        self.logs: list[Log] = []
        self._settings = settings
        self._tools = memory.tools
        self.asking = memory.asking
        self._explaining = memory.explaining
        self._legs = memory.legs
        self._open: dict[Id, _Open] = {}

    # -- from the client ------------------------------------------------------------------------------

    def client_message(self, line: bytes, now: float, *, waited: bool = False) -> Verdict | Ask:
        """Decide on a client's message; `waited` says that it was offered before and asks for nothing more."""
        message = read_message(line)
        if message is None:
            spans = batch_members(line)
            return Verdict(line) if spans is None else self._batch(line, spans, now, waited=waited)
        if message.method == "tools/call":
            call = read_call(message)
            if call is not None and (type(message) is Message or is_json(line)):
                tool = self._tools.get(call.name, now)
                if tool is not None and tool.engine is not None and call.request_state is None:
                    return self._decide(call, tool.engine, line)  # the common case, and the shortest way
                if not waited and tool is None and self._was_right(call):
                    self._open[call.id] = _Open(call.raw_id, "tools/call", 0, call.name)
                    return Verdict(line)
                return (None if waited else self._ask_for(call, now)) or self._decide_late(call, line, now)
        self._track(message)
        return Verdict(line)

    def _batch(self, line: bytes, spans: list[json_spans.Member], now: float, *, waited: bool) -> Verdict | Ask:
        """Decide on a batch (MCP 2025-03-26): all of it waits, each message is decided, what is refused goes."""
        parts = [line[span.start : span.end] for span in spans]
        messages = [read_message(part) for part in parts]
        sure = all(type(message) is Message for message in messages) or is_json(line)
        calls = [message and sure and read_call(message) for message in messages]
        for call in calls:
            ask = self._ask_for(call, now) if call and not waited else None
            if ask is not None:
                return ask
        edits: dict[json_spans.Member, bytes] = {}
        answers = b""
        for span, part, message, call in zip(spans, parts, messages, calls, strict=True):
            if call:
                verdict = self._decide_late(call, part, now)
                answers += verdict.answers
                if verdict.forward is not part:
                    edits[span] = verdict.forward
            elif message:
                self._track(message)
        return Verdict(rebatched(line, spans, edits), answers)

    def _track(self, message: Message) -> None:
        """Keep track of any message of the client that is not a call to be fitted."""
        method = message.method
        if method is msgspec.UNSET:
            return
        id = id_of(message.id)
        if id is not None:
            opened = self._open[id] = _Open(raw_id(message.id), method, self._tools.generation)
            if method in ("tasks/result", "tasks/get"):
                opened.task_id = str(_member(message, "taskId"))
            elif method == "initialize":
                self.asking.greeted(id)
        elif method == "notifications/initialized":
            self.asking.initialized()
        elif method == "notifications/cancelled":
            cancelled = _member(message, "requestId")
            if isinstance(cancelled, str | int | float) and not isinstance(cancelled, bool):
                self._open.pop(cancelled, None)

    def _was_right(self, call: Call) -> bool:
        """Whether a call is right as it came by the last listing, whose time is up."""
        tool = None if call.request_state is not None else self._tools.latest(call.name)
        if tool is None or tool.engine is None:
            return False
        fit = _fit(tool.engine, call)
        return fit.ok and not fit.changes

    def _decide_late(self, call: Call, line: bytes, now: float) -> Verdict:
        """Decide on a call whose schema has been asked for, if need be."""
        engine = self._engine_for(call, now)
        if engine is None:
            self._open[call.id] = _Open(call.raw_id, "tools/call", 0, call.name)
            return Verdict(line)
        return self._decide(call, engine, line)

    def _decide(self, call: Call, engine: Engine, line: bytes) -> Verdict:
        """Decide on a call whose schema is known."""
        opened = self._open[call.id] = _Open(call.raw_id, "tools/call", 0, call.name, "", engine)
        fit = _fit(engine, call)
        if fit.ok and not fit.changes:
            return Verdict(line)
        span = arguments_span(line, call.arguments)
        return Verdict(line) if span is None else self._not_right(call, opened, engine.plan, fit, line, span)

    def _not_right(
        self, call: Call, opened: _Open, plan: Plan, fit: Fit, line: bytes, span: tuple[int, int]
    ) -> Verdict:
        """Decide on a call that is not right as it came: changed, refused, or forwarded to be explained."""
        if self._settings.verbose:
            self.logs += [record.fitted(call.name, plan, change) for change in fit.changes]
        if not fit.ok and self._settings.on_misfit == "refuse" and not call.as_task:
            del self._open[call.id]
            self.logs.append(record.misfit(call.name, plan, fit.problems))
            info = self._tools.server_info
            return Verdict(b"", reply.refusal(opened.id, call.name, fit, modern=call.is_modern, server_info=info))
        if not fit.ok and self._settings.on_misfit == "explain":
            opened.misfit = Misfit(call.name, reply.note(fit))
        if fit.changes and fit.json is not None:
            line = line[: span[0]] + fit.json + line[span[1] :]
        return Verdict(line)

    def _ask_for(self, call: Call, now: float) -> Ask | None:
        return self.asking.ask_for(call, now) if self._leg_of(call) is None else None

    def _leg_of(self, call: Call) -> _Open | None:
        """The call that this one goes on with, where the server gave it a state to carry."""
        return None if call.request_state is None else self._legs.get(hash(call.request_state))

    def _engine_for(self, call: Call, now: float) -> Engine | None:
        leg = self._leg_of(call)
        if leg is not None:
            return leg.engine
        tool = self.asking.tool(call.name, now)
        if tool is None:
            return None
        first = not tool.compiled
        engine = self._tools.engine(tool)
        for at in (("#",) if engine is None else engine.plan.unusable) if first else ():
            self.logs.append(record.unusable(call.name, at))
        return engine

    # -- from the server ------------------------------------------------------------------------------

    def server_message(self, line: bytes, now: float) -> bytes:
        """Decide on a server's message: the bytes for the client, none where it was an answer to us."""
        message = read_message(line)
        if message is not None:
            if type(message) is UnsureMessage and not is_json(line):
                return self._unread(message, line, now)
            return self._heard(message, line, now)
        spans = batch_members(line)
        edits: dict[json_spans.Member, bytes] = {}
        for span in spans or ():
            part = line[span.start : span.end]
            answer = read_message(part)
            passed = self._heard(answer, part, now) if answer else part
            if passed is not part:
                edits[span] = passed
        return rebatched(line, spans or [], edits)

    def _unread(self, message: Message, line: bytes, now: float) -> bytes:
        """A line of the server's that is no JSON to us: it passes, unless it plainly answers us."""
        id = id_of(message.id)
        if id is not None and self.asking.is_ours(id):
            self.asking.answered(id, Message(), now)
            return b""
        if message.answers:
            self.skimmed_from_server(message)
        return line

    def _heard(self, message: Message, line: bytes, now: float) -> bytes:
        if message.method is not msgspec.UNSET:
            if message.method == "notifications/tools/list_changed":
                self.asking.changed()
            return line
        id = id_of(message.id)
        if id is None or not message.answers:
            return line
        opened = self._open.pop(id, None)
        if opened is None:
            if not self.asking.is_ours(id):
                return line
            self.asking.answered(id, message, now)
            return b""
        if opened.method == "tools/call":
            if opened.misfit is None and not self._settings.verbose and _STATE not in line:
                return line
            return self._call_answered(opened, message, line)
        if opened.method == "tools/list":
            self._tools.learn(message.result, opened.generation, now)
        elif opened.method in ("initialize", "server/discover"):
            self.asking.introduced(id, value_of(message.result))
        elif opened.task_id:
            return self._explaining.task_answered(opened.method, opened.task_id, message, line)
        return line

    def _call_answered(self, opened: _Open, message: Message, line: bytes) -> bytes:
        result = result_of(message)
        if isinstance(result.request_state, str):
            keep(self._legs, hash(result.request_state), opened)
        if self._settings.verbose and result.is_error is True:
            self.logs.append(record.refused(opened.tool))
        if opened.misfit is None:
            return line
        return self._explaining.call_answered(opened.misfit, message, result, line)

    @property
    def may_explain(self) -> bool:
        """Whether an answer to a request that is open may have to be explained."""
        return any(opened.misfit is not None or opened.task_id for opened in self._open.values())

    def has_no_use_for(self, answer: bytes) -> bool:
        """Whether all that the server says to what is open can go unread: it answers a call that was right."""
        for opened in self._open.values():
            if opened.method != "tools/call" or opened.misfit is not None:
                return False
        return not self._settings.verbose and _STATE not in answer and _CHANGED not in answer

    # -- what cannot be read, and the end -------------------------------------------------------------

    def skimmed_from_client(self, message: Message) -> None:
        """A message of the client's, too large to be read, has passed: a request is open."""
        self._track(message)

    def skimmed_from_server(self, message: Message) -> None:
        """A message of the server's, too large to be read, has passed: a request is answered."""
        id = id_of(message.id)
        if id is not None and message.method is msgspec.UNSET:
            self._open.pop(id, None)

    def unsent(self, line: bytes) -> None:
        """A message of the client's that the server will never see: its requests are open all the same."""
        message = read_message(line)
        spans = [] if message else batch_members(line) or []
        for part in [message, *(read_message(line[span.start : span.end]) for span in spans)]:
            if part is not None:
                self._track(part)

    def server_gone(self, code: int) -> bytes:
        """The server has ended: an error for each request it left open."""
        answers = b"".join(reply.server_gone(opened.id, code) for opened in self._open.values())
        self._open.clear()
        return answers


def _fit(engine: Engine, call: Call) -> Fit:
    return fit_value(engine, None) if call.arguments is None else fit_text(engine, call.arguments)


def _member(message: Message, name: str) -> object:
    params = value_of(message.params)
    return params.get(name, "") if isinstance(params, dict) else ""


def rebatched(line: bytes, spans: list[json_spans.Member], edits: dict[json_spans.Member, bytes]) -> bytes:
    """A batch with some messages replaced; an empty replacement takes its message out, and the last the line."""
    if not edits:
        return line
    if all(edits.values()):
        return json_spans.splice(line, [(span.start, span.end, new) for span, new in edits.items()])
    kept = [part for span in spans if (part := edits.get(span, line[span.start : span.end]))]
    return line[: spans[0].start] + b",".join(kept) + line[spans[-1].end :] if kept else b""
