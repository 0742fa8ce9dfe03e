"""Break the guard in one named way at a time, and show that a test goes red.

    python tests/mutants/run.py [NAME…]

Each mutation is one replacement in a copy of the tree; the guard's tests run against the copy until the first that
fails. Prints which mutations were noticed and by which test; exits with 1 where one was not, or where its text is no
longer in the code.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
TESTS = ["tests/adapters", "tests/core/test_guarding.py", "tests/core/test_record.py"]
MCP, FAST = "adapters/mcp_server.py", "adapters/fastmcp_server.py"
FAST_CALLS, FAST_TOOLS = "adapters/fastmcp_calls.py", "adapters/fastmcp_tools.py"
CALLS, LOW, HELD = "adapters/mcp_calls.py", "adapters/mcp_lowlevel.py", "adapters/fastmcp_binder.py"
BINDER, GUARDING, RECORD = "adapters/pydantic_binder.py", "core/guarding.py", "core/record.py"
PROBLEM, REFUSAL = "core/problem.py", "core/refusal.py"


class Mutation(NamedTuple):
    """A way to break the guard: what is written instead of what, in which file."""

    name: str
    file: str
    old: str
    new: str


MUTATIONS = [
    Mutation(
        "no check before an MCPServer's tool",
        MCP,
        "            if tool is None:\n",
        "            if True:\n",
    ),
    Mutation(
        "no check before a lowlevel tool",
        LOW,
        "            if not fit.ok:\n                return self.refused",
        "            if False:\n                return self.refused",
    ),
    Mutation(
        "no check before a FastMCP tool", FAST_TOOLS, "None if guarded.decides(fit) else fit.arguments", "fit.arguments"
    ),
    Mutation(
        "protocol errors are caught",
        MCP,
        "        if isinstance(error, MCPError):",
        "        if False:",
    ),
    Mutation(
        "an MCPServer's tool's own refusal is not caught",
        MCP,
        "        return error_of(str(error))",
        "        raise error",
    ),
    Mutation(
        "a FastMCP tool's own refusal is not caught",
        FAST_TOOLS,
        "                error.log_level = logging.DEBUG\n                call.calls.refused(call, call.name)\n",
        "                pass\n",
    ),
    Mutation(
        "a fault of an MCPServer's tool tells its text",
        MCP,
        "raise UnexpectedToolError(refusal.fault_of(name)) from error",
        "raise UnexpectedToolError(str(error.__cause__)) from error",
    ),
    Mutation(
        "a fault of a lowlevel tool tells its text",
        LOW,
        "return error_of(refusal.fault_of(params.name))",
        'return error_of(str(__import__("sys").exc_info()[1]))',
    ),
    Mutation(
        "a fault of a FastMCP tool tells its text",
        FAST,
        "return error_of(refusal.fault_of(name))",
        "return error_of(str(error))",
    ),
    Mutation(
        "what a body raises is told as a bad argument",
        MCP,
        "        is_refusal = isinstance",
        "        if isinstance(error.__cause__, ValidationError):\n            return error_of(refusal.text_of(name, Fit(False, {})))\n        is_refusal = isinstance",
    ),
    Mutation(
        "a result that cannot be sent is a FastMCP tool's refusal",
        HELD,
        'raise TypeError("the result of a tool cannot be sent") from error',
        "raise",
    ),
    Mutation("a result of any kind is passed on", LOW, "    if result is None:\n", "    if True:\n"),
    Mutation(
        "what is required is not asked for",
        "core/check.py",
        "            if name in shape.required:\n                yield words.missing((*path, name))",
        "            if False:\n                yield words.missing((*path, name))",
    ),
    Mutation("names are told apart by case", GUARDING, '("unquote", "rename-case")', '("unquote",)'),
    Mutation("texts are not decoded", GUARDING, '("unquote", "rename-case")', '("rename-case",)'),
    Mutation("an MCPServer's top level is open to any name", MCP, "drops_undeclared=True", "drops_undeclared=False"),
    Mutation(
        "unknown names are never refused",
        GUARDING,
        'judged = closed if rules.unknown == "refuse" else published',
        "judged = published",
    ),
    Mutation(
        "paths are not walked",
        PROBLEM,
        "def show_path(path: Path) -> str:\n",
        "def show_path(path: Path) -> str:\n    path = path[:1]\n",
    ),
    Mutation(
        "the range is not said",
        PROBLEM,
        'def out_of_bounds(path: Path, types: Iterable[str], bounds: "Bounds", *, too_low: bool) -> Problem:\n',
        'def out_of_bounds(path: Path, types: Iterable[str], bounds: "Bounds", *, too_low: bool) -> Problem:\n    return other(path)\n',
    ),
    *(
        Mutation(f"another word for {word}", PROBLEM, word, "a thing")
        for word in ("a whole number", "a date, YYYY-MM-DD", "an id", "a list", "an object")
    ),
    Mutation("a date is what the binder takes for one", GUARDING, 'frozenset({"date"})', "frozenset()"),
    Mutation("an id is any text on a lowlevel server", LOW, 'frozenset({"date", "uuid"})', 'frozenset({"date"})'),
    Mutation(
        "a refusal is logged louder",
        RECORD,
        'return Log("INFO", text, (tool, named)',
        'return Log("WARNING", text, (tool, named)',
    ),
    Mutation(
        "a tool's refusal is logged louder",
        RECORD,
        'return Log("INFO", "MCP tool %s refused the call."',
        'return Log("ERROR", "MCP tool %s refused the call."',
    ),
    Mutation(
        "a change is logged louder",
        RECORD,
        'return Log("DEBUG", "MCP tool %s: argument %s fitted',
        'return Log("INFO", "MCP tool %s: argument %s fitted',
    ),
    Mutation(
        "digits at risk are logged lower",
        RECORD,
        'return Log("WARNING", text, (tool, argument), {"tool": tool, "argument": argument, "rule"',
        'return Log("DEBUG", text, (tool, argument), {"tool": tool, "argument": argument, "rule"',
    ),
    Mutation(
        "a key that the caller chose is in a log line",
        RECORD,
        "show_path(declared_part(plan, path))",
        "show_path(path)",
    ),
    Mutation(
        "a value is in a log line",
        RECORD,
        "(tool, argument, change.rule), extra)",
        '(tool, f"{argument}={change.before!r}", change.rule), extra)',
    ),
    Mutation(
        "a text is shown to nobody as the object it spells",
        CALLS,
        'ctx = replace(ctx, params={**params, "arguments": call.spelled_out})',
        'ctx = replace(ctx, params={**params, "arguments": {}})',
    ),
    Mutation(
        "a call that is made in process is taken for one from the wire",
        FAST_CALLS,
        "call) if way.at == HANDING_ON else None",
        "call)",
    ),
    Mutation(
        "what FastMCP's search hands on is not guarded",
        FAST_CALLS,
        "call) if way.at == HANDING_ON else None",
        "call) if False else None",
    ),
    Mutation(
        "a task that is started on the way of a call is taken to be on it",
        FAST_CALLS,
        "way is not None and way.request is request",
        "way is not None",
    ),
    Mutation(
        "what a resource calls is taken for a call from the wire", FAST_CALLS, " or request._srctx.method != CALL", ""
    ),
    Mutation(
        "whoever asks for a tool is given its guard",
        FAST_TOOLS,
        "way is not None and way.at == REACHING and way.call is not None and way.call.calls is self._calls",
        "True",
    ),
    Mutation(
        "a tool has two guards of one server before it",
        FAST_TOOLS,
        'or isinstance(vars(tool).get("_run"), _StandIn)',
        "or False",
    ),
    Mutation(
        "an argument that was renamed is none of its validator's",
        FAST_TOOLS,
        "[new.get(name, name) for name in names]",
        "list(names)",
    ),
    Mutation(
        "a middleware does not know a refusal of arguments",
        FAST,
        "raise ValidationError(str(misfit), log_level=logging.DEBUG) from misfit",
        "raise",
    ),
    Mutation(
        "a protocol error tells the text of a fault",
        FAST_CALLS,
        "error.error.message.replace(told, refusal.fault_of(name))",
        "error.error.message",
    ),
    Mutation(
        "what code tells apart is judged by its schema",
        BINDER,
        'return callable(part.get("discriminator"))',
        "return False",
    ),
    Mutation(
        "a value that is no JSON is judged", GUARDING, "if not fit.ok and isinstance(arrived, dict):", "if False:"
    ),
    Mutation(
        "a call that is made in process by a middleware is taken for one from the wire",
        MCP,
        "        if ctx is not None:\n            return call if call.is_of(ctx) else None\n",
        "        return call\n",
    ),
    Mutation(
        "what a tool makes of its arguments is not asked for",
        MCP,
        "            bound.was = _copied(dict(bound))",
        "            pass",
    ),
    Mutation(
        "what spells no object is told as the SDK tells it",
        CALLS,
        'if call.came or not call.spells_none(params.get("name")):',
        "if True:",
    ),
    Mutation(
        "what an MCPServer's tool calls is taken for a call from the wire",
        MCP,
        "        before = COMING.set(None)",
        "        before = COMING.set(call)",
    ),
    Mutation(
        "what is called inside of a lowlevel tool is taken for a call from the wire",
        LOW,
        "        before = COMING.set(None)",
        "        before = COMING.set(call)",
    ),
    Mutation(
        "a name that was made up is in a log line",
        CALLS,
        "and self.knows(name) else record.NO_TOOL",
        "else record.NO_TOOL",
    ),
    Mutation("the problems as data are left out", REFUSAL, "        PROBLEMS: [\n", '        PROBLEMS + "x": [\n'),
    Mutation(
        "one listing is kept for all callers",
        LOW,
        "return None if user is None else user.access_token.token",
        "return None",
    ),
    Mutation(
        "the binder reads all text as JSON again",
        MCP,
        "model.model_validate(arguments)",
        "model.model_validate(self.binder.pre_parse_json(arguments))",
    ),
    Mutation(
        "FastMCP's binder is asked strictly",
        HELD,
        "else self._validator.validate_python(arguments, strict=strict)",
        "else self._validator.validate_python(arguments, strict=True)",
    ),
    Mutation(
        "only the schema decides",
        MCP,
        "            raise self._misfit(tool, guarded, fit, call) from None",
        "            return dict(arguments)",
    ),
    Mutation(
        "only the binder decides", GUARDING, 'if fit.ok or self._rules.contract == "schema" or not', "if fit.ok or not"
    ),
    Mutation(
        "an author's own validator is overruled",
        BINDER,
        "        if has_own(field, definitions.values())",
        "        if False",
    ),
    Mutation(
        "a binder binds twice",
        MCP,
        "        return bound.taken(arguments_to_validate)",
        "        return bind(self, bound)",
    ),
    Mutation(
        "the arguments are looked at before the caller",
        CALLS,
        '        call = Call(params.get("arguments"), self, ctx, call_next)\n',
        '        call = Call(params.get("arguments"), self, ctx, call_next)\n        if "ten" in str(params.get("arguments")):\n            return error_of("limit must be a whole number.")\n',
    ),
    Mutation(
        "who may not call is not logged",
        CALLS,
        "            if not call.came and error.code not in (INVALID_PARAMS, METHOD_NOT_FOUND):",
        "            if False:",
    ),
    Mutation(
        "a tool that destroys gets every repair",
        CALLS,
        "return self.rules.for_destroying() if destroys else self.rules",
        "return self.rules",
    ),
]


def main(*names: str) -> int:
    """Run the mutations of these names, or all; 1 where one goes unnoticed."""
    unnoticed = []
    for mutation in [one for one in MUTATIONS if not names or one.name in names]:
        red = first_red(mutation)
        print(f"red: {mutation.name}: {red}" if red else f"NOT NOTICED: {mutation.name}", flush=True)
        if not red:
            unnoticed.append(mutation.name)
    if not names:
        print(f"{len(MUTATIONS) - len(unnoticed)} of {len(MUTATIONS)} noticed.")
    return 1 if unnoticed else 0


def first_red(mutation: Mutation) -> str | None:
    """The first test that fails under a mutation; None where all pass."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for part in ("src", "tests", "pyproject.toml"):
            copied = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
            copied(ROOT / part, copy / part)
        file = copy / "src" / "argfit" / mutation.file
        code = file.read_text(encoding="utf-8")
        if mutation.old not in code:
            sys.exit(f"{mutation.name}: {mutation.file} no longer holds {mutation.old!r}")
        file.write_text(code.replace(mutation.old, mutation.new), encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--no-header", *TESTS]
        environment = {**os.environ, "PYTHONPATH": str(copy / "src")}
        run = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)
    found = re.search(r"^(?:FAILED|ERROR) (\S+)", run.stdout, re.MULTILINE)
    return found[1] if found else None


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
