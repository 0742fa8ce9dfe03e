from typing import Any

import pytest
from tests.wire.playbook import converse
from tests.wire.script import (
    BAD,
    EXPLAIN,
    FORWARD,
    MODERN,
    NOTE,
    REFUSE,
    START,
    Step,
    answered,
    call,
    client,
    error,
    handshake,
    listed,
    request,
    result,
    sent,
    server,
    to_client,
    to_server,
)

from argfit.wire.conversation import Settings

FAILED = {"content": [{"type": "text", "text": "no"}], "isError": True}
EXPLAINED = {"content": [{"type": "text", "text": "no"}, {"type": "text", "text": NOTE}], "isError": True}
MISSING = NOTE.replace("must be a whole number", "is required")
EXPLAINED_MISSING = {"content": [{"type": "text", "text": "no"}, {"type": "text", "text": MISSING}], "isError": True}
DONE = {"content": [{"type": "text", "text": "done"}]}


def explained(said: bytes, told: bytes) -> tuple[Step, Step]:
    """The server answers, and the client is told more."""
    return server(said), to_client(told)


# -- a note where the server itself answers with an error ---------------------------------------------


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (b'[{"type":"text","text":"no"}]', b'[{"type":"text","text":"no"},{"type":"text","text":"%s"}]'),
        (b"[]", b'[{"type":"text","text":"%s"}]'),
        (b"[ ]", b'[ {"type":"text","text":"%s"}]'),
        (b"[ 1.0 , NaN ]", b'[ 1.0 , NaN ,{"type":"text","text":"%s"}]'),
        (b'["\\ud800\xff"]', b'["\\ud800\xff",{"type":"text","text":"%s"}]'),
    ],
    ids=["a block", "none", "a blank", "odd blocks", "no text"],
)
def test_an_error_result_gets_one_more_text_block_and_keeps_every_other_byte(said: bytes, told: bytes) -> None:
    answer = b'\t{ "x":1.0,"result": {"isError" :true, "content":%s ,"content_":[]}, "id":1.0 , "x":2 }\r\n'
    converse(
        *START,
        *sent(call("1", BAD)),
        *explained(answer.replace(b"%s", said), answer.replace(b"%s", told.replace(b"%s", NOTE.encode()))),
    )


@pytest.mark.parametrize(("said", "told"), [("no", f"no {NOTE}"), ("", NOTE), ('a "b" \u00e9', f'a "b" \u00e9 {NOTE}')])
def test_a_json_rpc_error_gets_the_note_at_the_end_of_its_message(said: str, told: str) -> None:
    converse(*START, *sent(call("1", BAD)), *explained(error("1", -32602, said), error("1", -32602, told)))


def test_code_and_data_of_an_error_are_not_touched() -> None:
    answer = b'{"id":1,"error":{"data":{"message":"x","content":[]},"message":"no%s","code":-3.2e4}}\n'
    converse(
        *START,
        *sent(call("1", BAD)),
        *explained(answer.replace(b"%s", b""), answer.replace(b"%s", b" " + NOTE.encode())),
    )


@pytest.mark.parametrize(
    "answer",
    [
        b'{"id":1,"result":{"isError":true}}\n',
        b'{"id":1,"result":{"isError":true,"content":"text"}}\n',
        b'{"id":1,"error":{"code":1}}\n',
        b'{"id":1,"error":{"code":1,"message":null}}\n',
        b'{"id":1,"error":"text"}\n',
    ],
)
def test_an_error_without_a_place_for_a_note_stays_as_it_is(answer: bytes) -> None:
    converse(*START, *sent(call("1", BAD)), *answered(answer))


def test_all_problems_are_in_one_note() -> None:
    schema = {"properties": {"line": {"type": "integer"}, "file": {"type": "string"}}, "required": ["file"]}
    note = NOTE.replace("number.", "number; file is required.")
    told = result("1", content=[{"type": "text", "text": note}], isError=True)
    converse(
        *handshake(),
        *listed(schema),
        *sent(call("1", BAD)),
        *explained(result("1", content=[], isError=True), told),
    )


def test_what_was_fitted_before_is_not_in_the_note() -> None:
    schema = {"properties": {"line": {"type": "integer"}, "count": {"type": "integer"}}}
    converse(
        *handshake(),
        *listed(schema),
        client(call("1", '{"line":"x","count":5.0}')),
        to_server(call("1", '{"line":"x","count":5}')),
        *explained(result("1", **FAILED), result("1", **EXPLAINED)),
    )


def test_arguments_that_were_not_sent_are_judged_as_none() -> None:
    required = {"properties": {"line": {"type": "integer"}}, "required": ["line"]}
    for number, spelled in enumerate((b"", b',"arguments":null', b',"arguments":{}')):
        id = str(number)
        sent_call = b'{"id":%s,"method":"tools/call","params":{"name":"goto"%s}}\n' % (id.encode(), spelled)
        converse(
            *handshake(),
            *listed(required),
            *sent(sent_call),
            *explained(result(id, **FAILED), result(id, **EXPLAINED_MISSING)),
        )


# -- and nowhere else ---------------------------------------------------------------------------------


def test_the_error_of_a_call_that_fits_is_its_own() -> None:
    converse(
        *START,
        *sent(call("1", '{"line":5}')),
        *answered(result("1", **FAILED)),
        client(call("2", '{"line":5.0}')),
        to_server(call("2", '{"line":5}')),
        *answered(error("2", 1, "no")),
    )


def test_the_error_of_a_call_whose_schema_is_not_known_is_its_own() -> None:
    converse(*sent(call("1", BAD)), *answered(result("1", **FAILED)))


@pytest.mark.parametrize(
    "answer", [result("1", **DONE), result("1", **DONE, isError=False), result("1", isError="yes")]
)
def test_an_answer_that_is_no_error_is_not_explained(answer: bytes) -> None:
    converse(*START, *sent(call("1", BAD)), *answered(answer))


def test_forward_and_refuse_explain_nothing_and_explain_is_the_default() -> None:
    assert Settings() == EXPLAIN
    converse(*START, *sent(call("1", BAD)), *answered(result("1", **FAILED)), settings=FORWARD)
    converse(*START, *sent(call("1", BAD, task={})), *answered(result("1", **FAILED)), settings=REFUSE)


def test_once_the_server_took_the_same_problems_it_is_not_contradicted() -> None:
    converse(
        *START,
        *sent(call("1", BAD)),
        *answered(result("1", **DONE)),
        *sent(call("2", '{"line":"another value"}')),
        *answered(result("2", **FAILED)),
    )


def test_other_problems_and_other_tools_are_still_explained() -> None:
    schema = {"properties": {"line": {"type": "integer"}}, "required": ["line"]}
    converse(
        *handshake(),
        *listed(schema),
        *listed(tool="other"),
        *sent(call("1", BAD)),
        *answered(result("1", **DONE)),
        *sent(call("2", "{}")),
        *explained(result("2", **FAILED), result("2", **EXPLAINED_MISSING)),
        *sent(call("3", BAD, "other")),
        *explained(result("3", **FAILED), result("3", **EXPLAINED)),
    )


def test_an_error_after_an_error_is_explained_again() -> None:
    for_each = (
        (*sent(call(id, BAD)), *explained(result(id, **FAILED), result(id, **EXPLAINED))) for id in ("1", '"1"', "2.0")
    )
    converse(*START, *(step for steps in for_each for step in steps))


# -- results that come later --------------------------------------------------------------------------


def test_a_call_that_asks_for_more_input_is_explained_at_its_last_answer() -> None:
    more = result("1", resultType="input_required", requestState="s", isError=True, content=[])
    converse(
        *sent(request("0", "tools/list", _meta=MODERN)),
        *answered(result("0", tools=[{"name": "goto", "inputSchema": SCHEMA}], resultType="complete", ttlMs=9000)),
        *sent(call("1", BAD, _meta=MODERN)),
        *answered(more),
        *sent(call("2", BAD, requestState="s", _meta=MODERN)),
        *explained(result("2", resultType="complete", **FAILED), result("2", resultType="complete", **EXPLAINED)),
    )


SCHEMA = {"properties": {"line": {"type": "integer"}}}
WORKING = {"taskId": "t", "status": "working"}


def as_task(id: str, **created: Any) -> tuple[Step, ...]:
    return (*sent(call(id, BAD, task={"ttl": 60000})), *answered(result(id, **created)))


def test_a_call_run_as_a_task_is_explained_where_its_result_is_delivered() -> None:
    converse(
        *START,
        *as_task("1", task=WORKING),
        *sent(request("2", "tasks/get", taskId="t")),
        *answered(result("2", taskId="t", status="failed")),
        *sent(request("3", "tasks/result", taskId="t")),
        *explained(result("3", **FAILED), result("3", **EXPLAINED)),
    )


def test_a_task_that_fails_with_a_json_rpc_error_is_explained_in_it() -> None:
    converse(
        *START,
        *as_task("1", task=WORKING),
        *sent(request("3", "tasks/result", taskId="t")),
        *explained(error("3", -32603, "no"), error("3", -32603, f"no {NOTE}")),
    )


def test_the_result_of_another_task_and_other_news_of_this_one_are_not_touched() -> None:
    converse(
        *START,
        *as_task("1", task=WORKING),
        *sent(request("2", "tasks/result", taskId="other")),
        *answered(result("2", **FAILED)),
        *sent(request("3", "tasks/cancel", taskId="t")),
        *answered(error("3", -32602, "no")),
    )


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"status": "completed", "result": FAILED}, {"status": "completed", "result": EXPLAINED}),
        (
            {"status": "failed", "error": {"code": -32603, "message": "no"}},
            {"status": "failed", "error": {"code": -32603, "message": f"no {NOTE}"}},
        ),
        ({"status": "working"}, {"status": "working"}),
        ({"status": "completed", "result": DONE}, {"status": "completed", "result": DONE}),
        ({"status": "completed", "result": "odd"}, {"status": "completed", "result": "odd"}),
        (
            {"status": "completed", "error": None, "result": FAILED},
            {"status": "completed", "error": None, "result": EXPLAINED},
        ),
    ],
    ids=["an error result", "a JSON-RPC error", "still working", "done", "an odd result", "no error"],
)
def test_the_tasks_extension_delivers_results_inside_tasks_get(
    said: dict[str, object], told: dict[str, object]
) -> None:
    converse(
        *sent(request("0", "tools/list", _meta=MODERN)),
        *answered(result("0", tools=[{"name": "goto", "inputSchema": SCHEMA}], resultType="complete", ttlMs=9000)),
        *sent(call("1", BAD, _meta=MODERN)),
        *answered(result("1", resultType="task", **WORKING)),
        *sent(request("2", "tasks/get", taskId="t", _meta=MODERN)),
        *explained(result("2", resultType="complete", **said), result("2", resultType="complete", **told)),
    )


@pytest.mark.parametrize("odd", [b"[]", b"null", b'"text"'])
def test_an_odd_answer_about_a_task_passes(odd: bytes) -> None:
    answer = b'{"id":2,"result":%s}\n' % odd
    converse(*START, *as_task("1", task=WORKING), *sent(request("2", "tasks/get", taskId="t")), *answered(answer))


def test_a_task_that_went_well_counts_as_taken() -> None:
    converse(
        *START,
        *as_task("1", task=WORKING),
        *sent(request("2", "tasks/result", taskId="t")),
        *answered(result("2", **DONE)),
        *sent(call("3", BAD)),
        *answered(result("3", **FAILED)),
    )
