"""The contract's log lines: their texts are pinned here, and none holds a key or value of the caller's."""

import pytest

from argfit.core import record
from argfit.core.engine import compile_engine
from argfit.core.fit import fit_value
from argfit.core.record import Log

SCHEMA = {
    "type": "object",
    "properties": {
        "rows": {"type": "array", "items": {"type": "object", "properties": {"quantity": {"type": "integer"}}}},
        "labels": {"type": "object", "additionalProperties": {"type": "integer"}},
    },
    "additionalProperties": False,
}
ENGINE = compile_engine(SCHEMA)
PLAN = ENGINE.plan


def test_a_change_is_told_by_its_argument_and_rule() -> None:
    (change,) = fit_value(ENGINE, {"rows": [{"quantity": 5.0}]}).changes
    assert record.fitted("t", PLAN, change) == Log(
        "DEBUG",
        "MCP tool %s: argument %s fitted (%s).",
        ("t", "rows[0].quantity", "whole-number"),
        {"tool": "t", "argument": "rows[0].quantity", "rule": "whole-number"},
    )
    assert record.at_risk("t", PLAN, change) == Log(
        "WARNING",
        "MCP tool %s: argument %s may have lost digits before it came here.",
        ("t", "rows[0].quantity"),
        {"tool": "t", "argument": "rows[0].quantity", "rule": "whole-number"},
    )


def test_a_refusal_names_each_argument_once() -> None:
    fit = fit_value(ENGINE, {"rows": [{"quantity": "a"}, {"quantity": "b"}], "labels": {"k": "x", "l": "y"}})
    assert record.misfit("t", PLAN, fit.problems) == Log(
        "INFO",
        "MCP tool %s refused the call: argument %s is invalid.",
        ("t", "rows[0].quantity, rows[1].quantity, labels"),
        {"tool": "t", "argument": "rows[0].quantity, rows[1].quantity, labels"},
    )


@pytest.mark.parametrize("sent", [{"s3cret": 1}, {"labels": {"s3cret": "s3cret"}}, "s3cret", {"rows": "s3cret"}])
def test_what_the_caller_chose_is_in_no_line(sent: object) -> None:
    line = record.misfit("t", PLAN, fit_value(ENGINE, sent).problems)
    assert "s3cret" not in repr(line)


def test_what_is_not_named_is_the_arguments_as_a_whole() -> None:
    assert record.misfit("t", PLAN, fit_value(ENGINE, {"x": 1}).problems).args == ("t", "arguments")


def test_other_lines_name_the_tool() -> None:
    assert record.refused("t") == Log("INFO", "MCP tool %s refused the call.", ("t",), {"tool": "t"})
    assert record.unusable("t", "#/a") == Log(
        "WARNING", "MCP tool %s: schema at %s is not usable.", ("t", "#/a"), {"tool": "t"}
    )
