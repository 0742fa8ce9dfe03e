"""Explaining a server's error: which calls did not fit, and where their results are delivered.

Rules (contract, section 8)
- A note is added only where the server itself answers with an error, as a result or as a JSON-RPC error.
- Not where the server is known to have taken a call of this tool with the same problems.
- A call that asks for more input has no result yet; one that runs as a task has it where the task's result is
  delivered: `tasks/result` (2025-11-25) or inside `tasks/get` (tasks extension, 2026-07-28).
"""

from collections import OrderedDict
from typing import Any

import msgspec

from argfit.core.problem import Path
from argfit.wire import reply
from argfit.wire.asking import keep
from argfit.wire.message import Message, value_of


class Misfit(msgspec.Struct, frozen=True):
    """A call that went to the server although it did not fit: its tool, and what there is to say about it."""

    tool: str
    note: str


class CallResult(msgspec.Struct, rename="camel"):
    """The members of a call's result that say what became of the call."""

    is_error: Any = None
    result_type: Any = None
    request_state: Any = None
    task: Any = None
    task_id: Any = None

    @property
    def task_made(self) -> str | None:
        """The id of the task that the call became, if it did."""
        task = self.task.get("taskId") if isinstance(self.task, dict) else None
        if self.result_type == "task":
            task = self.task_id
        return task if isinstance(task, str) else None


class Explaining:
    """What is remembered of calls that did not fit."""

    def __init__(self) -> None:
        self._tasks: OrderedDict[str, Misfit] = OrderedDict()
        self._tolerated: OrderedDict[Misfit, None] = OrderedDict()

    def call_answered(self, misfit: Misfit, message: Message, result: CallResult, line: bytes) -> bytes:
        """The answer to a call that did not fit, explained where it is an error."""
        if result.result_type == "input_required":
            return line
        if result.task_made is not None:
            keep(self._tasks, result.task_made, misfit)
            return line
        return self._explained(misfit, line, failed=_failed(message, result))

    def task_answered(self, method: str, task_id: str, message: Message, line: bytes) -> bytes:
        """The answer to a question about a task, explained where it delivers the error of a call that did not fit."""
        misfit = self._tasks.get(task_id)
        if misfit is None:
            return line
        if method == "tasks/result":
            return self._explained(misfit, line, failed=_failed(message, result_of(message)))
        task = value_of(message.result)
        if not isinstance(task, dict) or task.keys().isdisjoint(("result", "error")):
            return line
        result = task.get("result")
        failed = task.get("error") is not None or (isinstance(result, dict) and result.get("isError") is True)
        return self._explained(misfit, line, failed=failed, inside=("result",))

    def _explained(self, misfit: Misfit, line: bytes, *, failed: bool, inside: Path = ()) -> bytes:
        if not failed:
            keep(self._tolerated, misfit, None)
            return line
        return line if misfit in self._tolerated else reply.with_note(line, misfit.note, inside)


def result_of(message: Message) -> CallResult:
    """The result of an answer; an empty one where it has none that can be read."""
    if message.result is msgspec.UNSET:
        return CallResult()
    try:
        return msgspec.json.decode(message.result, type=CallResult)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        whole = value_of(message.result)
        return msgspec.convert(whole, CallResult) if isinstance(whole, dict) else CallResult()


def _failed(message: Message, result: CallResult) -> bool:
    return message.failed or result.is_error is True
