"""The log lines of a conversation (contract, section 6): stable text, no value, no key that the caller chose."""

import pytest
from tests.wire.pieces import WAYS
from tests.wire.playbook import Stage, converse
from tests.wire.script import (
    INPUTS,
    LINE,
    LIST_CHANGED,
    TOKEN,
    Step,
    answered,
    call,
    client,
    error,
    handshake,
    listed,
    log,
    result,
    sent,
    server,
    to_server,
)

from argfit.wire.conversation import Settings
from argfit.wire.session import Session

VERBOSE = Settings(verbose=True)
NESTED = {
    "type": "object",
    "properties": {
        "line": {"type": "integer"},
        "a b": {"type": "integer"},
        "rows": {"type": "array", "items": {"properties": {"n": {"type": "integer"}}}},
        "counts": {"type": "object", "additionalProperties": {"type": "integer"}},
    },
    "required": ["line"],
    "additionalProperties": False,
}
START = (*handshake(), *listed(NESTED))


def logs(*script: Step, settings: Settings) -> list[Step]:
    """All that is logged in a conversation, whatever else comes of it."""
    stage = Stage(Session(settings, TOKEN), WAYS["whole"])
    told = [step for said in script if said.kind in INPUTS for step in stage.after(said)]
    return [step for step in told if step.kind == "log"]


def fitted(argument: str, rule: str = "whole-number") -> Step:
    said = f"MCP tool goto: argument {argument} fitted ({rule})."
    return log("DEBUG", said, tool="goto", argument=argument, rule=rule)


def refused(arguments: str) -> Step:
    said = f"MCP tool goto refused the call: argument {arguments} is invalid."
    return log("INFO", said, tool="goto", argument=arguments)


def unusable(at: str) -> Step:
    return log("WARNING", f"MCP tool goto: schema at {at} is not usable.", tool="goto")


@pytest.mark.parametrize(
    ("arguments", "logged"),
    [
        ('{"line":5.0}', ["line"]),
        ('{"line":5.0,"a b":7.0}', ["line", '["a b"]']),
        ('{"line":1,"rows":[{"n":1},{"n":7.0}]}', ["rows[1].n"]),
        ('{"line":1,"counts":{"s3cret":7.0}}', ["counts"]),
    ],
)
def test_each_change_is_logged_with_its_argument_and_rule(arguments: str, logged: list[str]) -> None:
    went = arguments.replace("5.0", "5").replace("7.0", "7")
    lines = map(fitted, logged)
    converse(*START, client(call("1", arguments)), to_server(call("1", went)), *lines, settings=VERBOSE)


def test_a_name_that_is_left_out_is_logged_without_being_named() -> None:
    settings = Settings(strip=frozenset({"s3cret"}), verbose=True)
    told = logs(*START, client(call("1", '{"line":5,"s3cret":1}')), settings=settings)
    assert told == [fitted("arguments", "strip")]


def test_changes_are_logged_only_when_that_is_wanted() -> None:
    assert logs(*START, client(call("1", '{"line":5.0}')), settings=Settings()) == []


@pytest.mark.parametrize(
    ("arguments", "logged"),
    [
        ('{"line":"s3cret"}', "line"),
        ("{}", "line"),
        ('{"line":"s3cret","a b":[]}', 'line, ["a b"]'),
        ('{"line":1,"s3cret":1}', "arguments"),
        ('{"line":1,"counts":{"s3cret":"s3cret","more":true}}', "counts"),
        ('{"line":1,"rows":[{},{"n":"s3cret"}]}', "rows[1].n"),
        ('["s3cret"]', "arguments"),
    ],
)
def test_a_refusal_is_logged_in_one_line_with_the_nearest_declared_paths(arguments: str, logged: str) -> None:
    assert logs(*START, client(call("1", arguments)), settings=Settings("refuse")) == [refused(logged)]


SAID_NO = (
    *sent(call("1", '{"line":5}')),
    *answered(result("1", isError=True, content=[])),
    *sent(call("2", '{"line":"s3cret"}')),
    server(result("2", isError=True, content=[])),
)
OWN_REFUSAL = log("INFO", "MCP tool goto refused the call.", tool="goto")


def test_a_refusal_of_the_tools_own_is_logged_without_what_it_says() -> None:
    assert logs(*START, *SAID_NO, settings=Settings("forward", verbose=True)) == [OWN_REFUSAL, OWN_REFUSAL]
    assert logs(*START, *SAID_NO, settings=Settings("forward")) == []
    assert logs(*START, *SAID_NO, settings=Settings("explain")) == []


def test_a_refusal_of_the_tools_own_is_logged_where_it_is_explained_as_well() -> None:
    assert logs(*START, *SAID_NO, settings=VERBOSE) == [OWN_REFUSAL, OWN_REFUSAL]


def test_an_answer_that_is_no_refusal_is_not_logged() -> None:
    rest = (*sent(call("1", '{"line":5}')), *answered(result("1", content=[])), *answered(error("1", -32603, "no")))
    assert logs(*START, *rest, settings=VERBOSE) == []


def test_parts_of_a_schema_that_are_not_usable_are_logged_once_when_the_tool_is_first_called() -> None:
    odd = {"type": "object", "properties": {"line": {"type": "integer", "minimum": "low"}, "x": {"pattern": "("}}}
    converse(
        *handshake(),
        *listed(odd),
        client(call("1", '{"line":5.0}')),
        to_server(call("1", '{"line":5}')),
        unusable("#/properties/line/minimum"),
        unusable("#/properties/x/pattern"),
        client(call("2", '{"line":5.0}')),
        to_server(call("2", '{"line":5}')),
        *listed(odd),
        *sent(call("3", '{"line":5}')),
    )


def test_a_schema_that_is_none_is_logged_once() -> None:
    converse(*handshake(), *listed("s3cret"), *sent(call("1", "{}")), unusable("#"), *sent(call("2", "{}")))


def test_a_schema_that_is_another_after_a_change_is_looked_at_again() -> None:
    changed = (*answered(LIST_CHANGED), *listed(5))
    calls = (client(call("1", '{"line":5.0}')), to_server(call("1", '{"line":5}')))
    converse(*handshake(), *listed(LINE), *calls, *changed, *sent(call("2", '{"line":5.0}')), unusable("#"))
