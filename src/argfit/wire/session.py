"""One stdio connection: chunks of bytes in, commands out. It awaits nothing, reads no clock, writes no log.

Rules
- Both directions are framed here and decided in `conversation`; order is kept within each direction.
- While a call waits for its schema, everything the client sends after it waits behind it: a cancellation must
  not overtake its call.
- The client's side never writes to the client by itself: answers of ours go out between whole lines of the
  server's, when the driver takes them with `answers`.
- A fault of ours costs the fit, never the message: it is relayed as it came.

What the driver does: feed `client_bytes` and `server_bytes`, carry out the commands in order, call `resume`
when it was told to `Hold` and the time is up or a `Release` came from the other side, and tell both ends.
"""

from collections import deque
from collections.abc import Iterable
from contextlib import suppress

import msgspec

from argfit.core.record import Log
from argfit.wire.asking import Ask
from argfit.wire.conversation import Conversation, Memory, Settings, Verdict
from argfit.wire.lines import LIMIT, Lines, Part
from argfit.wire.message import TAIL, Message, id_of, skim


class ToServer(msgspec.Struct, frozen=True):
    """Write these bytes to the server."""

    data: bytes


class ToClient(msgspec.Struct, frozen=True):
    """Write these bytes to the client."""

    data: bytes


class Hold(msgspec.Struct, frozen=True):
    """Read nothing more from the client until `Release`, or until this time; then `resume`."""

    until: float


class Release(msgspec.Struct, frozen=True):
    """Whoever holds may `resume`."""


class Deliver(msgspec.Struct, frozen=True):
    """There are answers of ours for the client: write what `answers` gives."""


Command = ToServer | ToClient | Hold | Release | Deliver | Log

_NEWLINE = ord("\n")
_FAULT = Log("ERROR", "A message was relayed as it came after a fault of argfit's own.", (), {})


class Session:
    """The state of one connection; `schema_wait` is in seconds, `limit` in bytes, `token` unguessable."""

    def __init__(self, settings: Settings, token: str, schema_wait: float = 2.0, limit: int = LIMIT) -> None:
        self._conversation = Conversation(settings, Memory(settings, token))
        self._schema_wait = schema_wait
        self._from_client = Lines(limit)
        self._from_server = Lines(limit)
        self._client_ends = _Ends()
        self._server_ends = _Ends()
        self._held: deque[bytes | Part] = deque()
        self._deadline: float | None = None
        self._for_handshake = False
        self._answers: list[bytes] = []
        self._mid_line = False  # of what was passed on to the client
        self._hidden = False  # an overlong answer to us is passing by
        self._gone: int | None = None  # the exit code of a server that has ended

    def client_bytes(self, chunk: bytes, now: float) -> list[Command]:
        """Bytes from the client."""
        lines = self._from_client.feed(chunk)
        if self._deadline is None and self._gone is None:
            return self._process(lines, now)
        return self._offer(lines, now)

    def client_end(self, now: float) -> list[Command]:
        """The client sends nothing more; a last line without an ending counts."""
        return self._offer(self._from_client.rest(), now)

    def resume(self, now: float) -> list[Command]:
        """Go on after a `Hold`, if there is reason to: the schema came, the time is up, or the server is gone."""
        if self._deadline is None:
            return []
        asking = self._conversation.asking
        question = asking.next_question()
        asked: list[Command] = [ToServer(question)] if question else []
        in_time = now < self._deadline
        if asking.is_waiting() and in_time:
            return [*asked, Hold(self._deadline)]
        asking.give_up_waiting()
        deadline, self._deadline = self._deadline, None
        held, self._held = self._held, deque()
        for_handshake, self._for_handshake = self._for_handshake, False
        return [*asked, *self._process(held, now, waited=not (for_handshake and in_time), deadline=deadline)]

    def server_bytes(self, chunk: bytes, now: float) -> list[Command]:
        """Bytes from the server."""
        lines = self._from_server.feed(chunk)
        return self._pass_on(lines, now)

    def server_end(self, code: int, now: float) -> list[Command]:
        """The server has ended with this exit code: its last words, then an error for each open request."""
        said = self._pass_on(self._from_server.rest(), now)
        self._gone = code
        held, self._held, self._deadline = self._held, deque(), None
        for line in held:
            if isinstance(line, bytes):
                self._conversation.unsent(line)
        # a last line without an ending must not swallow what follows it
        ending = b"\n" if self._mid_line else b""
        self._mid_line = False
        errors = self._conversation.server_gone(code)
        last = b"".join([ending, *self._answers, errors]) if errors or self._answers else b""
        self._answers = []
        return [*said, *([ToClient(last)] if last else []), Release()]

    def answers(self) -> bytes:
        """Answers of ours that may be written to the client now: none in the middle of a server's line."""
        if self._mid_line:
            return b""
        ready, self._answers = b"".join(self._answers), []
        return ready

    # -- the client's lines ---------------------------------------------------------------------------

    def _offer(self, lines: list[bytes | Part], now: float) -> list[Command]:
        if self._gone is not None:
            return self._answer_for_the_dead(lines, self._gone)
        if self._deadline is not None:
            self._held.extend(lines)
            return []
        return self._process(lines, now)

    def _answer_for_the_dead(self, lines: list[bytes | Part], code: int) -> list[Command]:
        for line in lines:
            if isinstance(line, bytes):
                self._conversation.unsent(line)
        errors = self._conversation.server_gone(code)
        self._answers += [errors] if errors else []
        return [Deliver()] if errors else []

    def _process(
        self, lines: Iterable[bytes | Part], now: float, *, waited: bool = False, deadline: float | None = None
    ) -> list[Command]:
        forward: list[bytes] = []
        hold: list[Command] = []
        rest = iter(lines)
        for line in rest:
            if isinstance(line, Part):
                if skimmed := self._client_ends.skim(line):
                    self._conversation.skimmed_from_client(skimmed)
                forward.append(line.data)
                continue
            try:
                verdict = self._conversation.client_message(line, now, waited=waited)
            except Exception:  # noqa: BLE001 - see the rules: the message matters more than our fault
                self._conversation.logs.append(_FAULT)
                with suppress(Exception):
                    self._conversation.unsent(line)  # it is on its way, and open all the same
                verdict = Verdict(line)
            if isinstance(verdict, Ask):
                forward.append(verdict.question)
                self._held.extend([line, *rest])
                self._for_handshake = verdict.handshake
                self._deadline = now + self._schema_wait if deadline is None else deadline
                hold.append(Hold(self._deadline))
                break
            waited, deadline = False, None  # that was for the first line only
            forward.append(verdict.forward)
            if verdict.answers:
                self._answers.append(verdict.answers)
        data = forward[0] if len(forward) == 1 else b"".join(forward)
        out: list[Command] = [ToServer(data)] if data else []
        if self._answers:
            out.append(Deliver())
        if self._conversation.logs:
            out += self._logs()
        return out + hold if hold else out

    def _logs(self) -> list[Log]:
        logs, self._conversation.logs = self._conversation.logs, []
        return logs

    # -- the server's lines ---------------------------------------------------------------------------

    def _pass_on(self, lines: list[bytes | Part], now: float) -> list[Command]:
        passed: list[bytes] = []
        for line in lines:
            said = self._overhear(line, now) if isinstance(line, Part) else self._hear(line, now)
            if said:
                passed.append(said)
                self._mid_line = said[-1] != _NEWLINE
            if self._answers and not self._mid_line:
                passed.append(self.answers())
        data = passed[0] if len(passed) == 1 else b"".join(passed)
        out: list[Command] = [ToClient(data)] if data else []
        if self._conversation.logs:
            out += self._logs()
        if self._deadline is not None and not self._conversation.asking.is_waiting():
            out.append(Release())
        return out

    def _overhear(self, part: Part, now: float) -> bytes:
        """A part of an overlong message of the server's: passed on as it is, unless it is an answer to us."""
        asking = self._conversation.asking
        if part.first:
            self._hidden = asking.is_ours(id_of(skim(part.data, b"").id))
        hidden = self._hidden
        skimmed = self._server_ends.skim(part)
        if skimmed is not None:
            id = id_of(skimmed.id)
            if hidden and id is not None:
                asking.answered(id, skimmed, now)
            else:
                self._conversation.skimmed_from_server(skimmed)
            self._hidden = False
        return b"" if hidden else part.data

    def _hear(self, line: bytes, now: float) -> bytes:
        try:
            return self._conversation.server_message(line, now)
        except Exception:  # noqa: BLE001 - see the rules: the message matters more than our fault
            self._conversation.logs.append(_FAULT)
            return line


class _Ends:
    """The two ends of the overlong message that is passing in one direction: requests still open and close."""

    def __init__(self) -> None:
        self._head = b""
        self._tail = b""

    def skim(self, part: Part) -> Message | None:
        """Take a part; what can be said of the message, once all of it has passed."""
        if part.first:
            self._head, self._tail = part.data, b""
        self._tail = (self._tail + part.data[-TAIL:])[-TAIL:]
        if not part.last:
            return None
        skimmed = skim(self._head, self._tail)
        self._head = self._tail = b""
        return skimmed
