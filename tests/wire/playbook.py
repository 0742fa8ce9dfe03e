"""Performs scripts: a test lists who says what and all that comes of it, in order (tests/wire/script.py).

Each script is performed whole, byte by byte and in random pieces. What comes of an input is told in a fixed
order: to the server, to the client, whether a call waits now or goes on, what is logged. Logs count where the
script names one; a fault of argfit's own always counts.
"""

from collections.abc import Iterable
from difflib import ndiff

from tests.wire.pieces import WAYS, Cut
from tests.wire.script import EXPLAIN, INPUTS, TOKEN, WAIT, Step, goes_on, to_client, to_server, waits_until

from argfit.core.record import Log
from argfit.wire.conversation import Settings
from argfit.wire.lines import LIMIT
from argfit.wire.session import Command, Deliver, Hold, Release, Session, ToClient, ToServer


def converse(*script: Step, settings: Settings = EXPLAIN, limit: int = LIMIT) -> None:
    """Perform a script each way; fails with the difference between the script and what happened."""
    with_logs = any(step.kind == "log" for step in script)
    for way, cut in WAYS.items():
        stage = Stage(Session(settings, TOKEN, WAIT, limit), cut)
        happened = [told for step in script if step.kind in INPUTS for told in (step, *stage.after(step))]
        told = tuple(step for step in happened if with_logs or step.kind != "log" or step.what[0] == "ERROR")
        assert told == script, f"{way} (- as written, + as it went)\n" + "\n".join(ndiff(lines(script), lines(told)))


def lines(steps: Iterable[Step]) -> list[str]:
    return [f"{step.kind}: {step.what!r}" for step in steps]


class Stage:
    """A driver without I/O: it feeds one session, carries out its commands, and tells what came of each input."""

    def __init__(self, session: Session, cut: Cut) -> None:
        self._session, self._cut, self._now = session, cut, 0.0
        self._until = 0.0  # of the call that waits; 0 where none does

    def after(self, step: Step) -> list[Step]:
        self._up, self._down, self._logs = b"", b"", list[Step]()
        session, until = self._session, self._until
        if step.kind == "at":
            self._now = step.what
            self._carry_out([Release()] if until <= self._now else [])
        elif step.kind in ("client closes", "server exits"):
            closes = step.kind == "client closes"
            self._carry_out(session.client_end(self._now) if closes else session.server_end(step.what, self._now))
        else:
            feed = session.client_bytes if step.kind == "client" else session.server_bytes
            for piece in self._cut(step.what):
                self._carry_out(feed(piece, self._now))
        told = [to_server(self._up)] * bool(self._up) + [to_client(self._down)] * bool(self._down)
        told += [waits_until(self._until) if self._until else goes_on()] * (self._until != until)
        return told + self._logs

    def _carry_out(self, commands: list[Command]) -> None:
        for command in commands:
            match command:
                case ToServer(data):
                    self._up += data
                case ToClient(data):
                    self._down += data
                case Deliver():
                    self._down += self._session.answers()
                case Log(level, text, args, extra):
                    self._logs.append(Step("log", (level, text % args, extra)))
                case Hold(until):
                    self._until = until
                case Release() if self._until:
                    self._until = 0.0
                    self._carry_out(self._session.resume(self._now))
