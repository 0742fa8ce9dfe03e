import pytest
from tests.wire.playbook import converse
from tests.wire.script import (
    BAD,
    EXITED,
    LIST_CHANGED,
    MODERN,
    REFUSE,
    START,
    answered,
    call,
    client,
    goes_on,
    handshake,
    listed,
    listing,
    ours,
    question,
    refused,
    request,
    result,
    sent,
    server,
    server_exits,
    to_client,
    to_server,
    waits_until,
)

from argfit.core.choices import repairs_named
from argfit.wire.conversation import Settings
from argfit.wire.tools import Chosen

TEXT = {"properties": {"line": {"type": "string"}}}

# -- what is fitted -----------------------------------------------------------------------------------


DEEP = b"[" * 10_000 + b"]" * 10_000


@pytest.mark.parametrize(
    "line",
    [
        call("1", '{"line":5.0}'),
        b'\t{ "x":1, "params" : {"arguments" :{"line":5.0 ,"z":1.0},"name":"goto"},\r"method":"tools/call","id":0}\r\n',
        b"\xef\xbb\xbf" + call("1.0", '{"line":5.0}'),
        b'{"id":1,"m\\u0065thod":"tools/call","params":{"n\\u0061me":"goto","arguments":{"l\\u0069ne":5.0}}}\n',
        call("1", '{"line":5.0}', _meta={"line": 1.0}, more={"line": 1.0}),
        b'{"id":1,"method":"tools/call","params":{"name":"goto","arguments":{"line":5.0,"s":"\xff\\ud800"}}}\n',
        call("1", '{"n":12345678901234567890,"line":5.0}'),
        b'{"arguments":{"line":1.0},' + call("1", '{"line":5.0}')[1:],
        b'{"id":1,"method":"tools/call","params":{"name":"goto","x":%s,"arguments":{"line":5.0}}}\n' % DEEP,
    ],
    ids="compact,spaced,mark,escaped,meta,no text,long integer,namesake,deep".split(","),
)
def test_only_the_digits_of_a_whole_float_change(line: bytes) -> None:
    converse(*START, client(line), to_server(line.replace(b"5.0", b"5")))


@pytest.mark.parametrize(
    "line",
    [
        call("1", '{"line":5}'),
        call("1", '{"line":5.5}'),
        call("1", '{"line":"5.0"}'),
        call("1", '{"other":5.0}'),
        call("1", '{"line":5.0,"line":6.0}'),
        call("1", '"text"'),
        call("1", "null"),
        call("null", '{"line":5.0}'),
        call("true", '{"line":5.0}'),
        b'{"method":"tools/call","params":{"name":"goto","arguments":{"line":5.0}}}\n',
        call("1", '{"line":5.0}').replace(b"tools/call", b"tools/calls"),
        call("1", '{"line":5.0}').replace(b'"name"', b'"nam"'),
        request("1", "tools/call", name="goto"),
        request("1", "tools/call", name=["goto"], arguments={"line": 5.0}),
        b'{"id":1,"method":"tools/call"}\n',
        call("1", '{"line":5.0}').replace(b'"id"', b'"id":2,"id"'),
        call("1", '{"line":5.0}').replace(b'"method"', b'"method":"x","method"'),
        call("1", '{"line":5.0}').replace(b'"params"', b'"params":{},"params"'),
        call("1", '{"line":5.0}').replace(b'"name"', b'"n\\u0061me":"x","name"'),
        call("1", '{"line":5.0}').replace(b'"arguments"', b'"arguments":{},"arguments"'),
        call("1", f'{{"line":{DEEP.decode()}}}'),
        call("1", '{"line":5.0}').replace(b"}}}", b"}}}x"),
        call("1", '{"line":5.0,"x":tru}'),
        b"[%s,{]\n" % call("1", '{"line":5.0}')[:-1],
        b"[%s,tru]\n" % call("1", '{"line":5.0}')[:-1],
    ],
)
@pytest.mark.parametrize("settings", [Settings("explain"), Settings("forward")], ids=["explain", "forward"])
def test_what_needs_no_change_is_forwarded_as_the_very_bytes(line: bytes, settings: Settings) -> None:
    if b'"unlisted"' in line:
        asked = (
            client(line),
            to_server(question(1)),
            waits_until(2.0),
            server(listing(ours(1))),
            to_server(line),
            goes_on(),
        )
        converse(*START, *asked, settings=settings)
    else:
        converse(*START, *sent(line), settings=settings)


def test_a_call_that_fits_in_part_is_fitted_as_far_as_it_goes() -> None:
    schema = {"properties": {"line": {"type": "integer"}, "count": {"type": "integer"}}}
    converse(
        *handshake(),
        *listed(schema),
        client(call("1", '{"line":5.0,"count":"many"}')),
        to_server(call("1", '{"line":5,"count":"many"}')),
    )


def test_a_tool_whose_schema_is_none_is_left_alone() -> None:
    converse(*handshake(), *listed(schema="text"), *sent(call("1", '{"line":5.0}')))


# -- repairs ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("came", "went"),
    [
        ('{"line" : "5" }', '{"line" : 5 }'),
        ('"{\\"line\\": \\"5.0\\"}"', '{"line": 5}'),
        ('{"line":"x"}', '{"line":"x"}'),
    ],
    ids=["a member", "the whole arguments", "what no repair mends"],
)
def test_a_repair_that_is_on_is_spliced_into_the_call(came: str, went: str) -> None:
    settings = Settings(repairs=Chosen(repairs_named(["unquote"])))
    converse(*START, client(call("1", came)), to_server(call("1", went)), settings=settings)


# -- strip --------------------------------------------------------------------------------------------

STRIP = Settings(strip=frozenset({"reason", "line"}))


@pytest.mark.parametrize(
    ("came", "went"),
    [
        ('{"reason":"r","line":5}', '{"line":5}'),
        ('{"line":5, "reason":"r"}', '{"line":5}'),
        ('{"line":5.0,"reason":{"line":1.0} ,"x":1.0}', '{"line":5,"x":1.0}'),
        ('{"reason":1}', "{}"),
        ('{"x":{"reason":1}}', '{"x":{"reason":1}}'),
        ('{"re\\u0061son":1,"line":5}', '{"line":5}'),
    ],
)
def test_undeclared_names_are_stripped_at_the_top_level_only(came: str, went: str) -> None:
    converse(*START, client(call("1", came)), to_server(call("1", went)), settings=STRIP)


def test_a_name_that_is_not_told_to_be_stripped_stays() -> None:
    converse(*START, *sent(call("1", '{"reason":1}')))


# -- refuse -------------------------------------------------------------------------------------------


def test_a_call_that_does_not_fit_is_answered_here_and_not_sent() -> None:
    converse(*START, client(call("1.0", BAD)), to_client(refused(b"1.0")), settings=REFUSE)


def test_a_refusal_of_2026_07_28_says_its_result_type_and_carries_the_servers_stamp() -> None:
    stamp = b'"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}'
    stamps = {"io.modelcontextprotocol/serverInfo": {"name": "s", "version": "1"}}
    converse(
        *sent(request("0", "tools/list", _meta=MODERN)),
        *answered(listing("0", resultType="complete", ttlMs=9000, _meta=stamps)),
        client(call("1", BAD, _meta=MODERN)),
        to_client(refused(b"1", b"," + stamp, b',"resultType":"complete"')),
        settings=REFUSE,
    )


def test_a_refusal_of_2026_07_28_without_a_known_stamp_has_none() -> None:
    converse(
        *sent(request("0", "tools/list", _meta=MODERN)),
        *answered(listing("0", resultType="complete", ttlMs=9000)),
        client(call("1", BAD, _meta=MODERN)),
        to_client(refused(b"1", b"", b',"resultType":"complete"')),
        settings=REFUSE,
    )


def test_where_nothing_is_known_of_a_tool_nothing_is_refused() -> None:
    converse(*sent(call("1", BAD)), settings=REFUSE)


def test_refuse_still_fits_what_fits_and_lets_tasks_pass() -> None:
    converse(
        *START,
        client(call("1", '{"line":5.0}')),
        to_server(call("1", '{"line":5}')),
        *sent(call("2", BAD, task={"ttl": 1})),
        client(call("3", '{"line":5.0}', task={})),
        to_server(call("3", '{"line":5}', task={})),
        settings=REFUSE,
    )


def test_a_refused_call_is_not_answered_again_when_the_server_dies() -> None:
    converse(
        *START,
        client(call("1", BAD)),
        to_client(refused(b"1")),
        server_exits(3),
        settings=REFUSE,
    )


# -- calls that go on ---------------------------------------------------------------------------------


def test_a_call_with_a_request_state_is_fitted_as_its_first_leg_though_the_schema_changed() -> None:
    converse(
        *START,
        client(call("1", '{"line":5.0}')),
        to_server(call("1", '{"line":5}')),
        *answered(result("1", resultType="input_required", requestState="s1")),
        *answered(LIST_CHANGED),
        *listed(TEXT),
        *sent(call("9", '{"line":5.0}')),
        client(call("2", '{"line":5.0}', requestState="s1")),
        to_server(call("2", '{"line":5}', requestState="s1")),
        *answered(result("2", resultType="input_required", requestState="s2")),
        client(call("3", '{"line":5.0}', requestState="s2")),
        to_server(call("3", '{"line":5}', requestState="s2")),
    )


def test_a_first_leg_that_was_not_fitted_leaves_the_next_ones_as_they_are() -> None:
    converse(
        *sent(call("1", '{"line":5.0}')),
        *answered(result("1", requestState="s1")),
        *START,
        *sent(call("2", '{"line":5.0}', requestState="s1")),
    )


def test_a_request_state_that_no_answer_gave_binds_nothing() -> None:
    converse(
        *START,
        client(call("1", '{"line":5.0}', requestState="s9")),
        to_server(call("1", '{"line":5}', requestState="s9")),
        client(call("2", '{"line":5.0}', requestState=7)),
        to_server(call("2", '{"line":5}', requestState=7)),
    )


# -- the end of the server ----------------------------------------------------------------------------


def test_when_the_server_dies_each_open_request_is_answered_with_its_id_as_spelled() -> None:
    ids = (b"1.0", b'"1"', b'"\\u0031x"', b'""', b"0", b"-7", b"1e2", b"12345678901234567890")
    requests = b"".join(request(id.decode(), "ping") for id in ids)
    converse(
        *START,
        *sent(call("1", '{"line":5}')),
        *answered(result("1.0")),
        *sent(requests),
        *sent(call('"c"', BAD)),
        server_exits(3),
        to_client(b"".join(EXITED % id for id in (*ids, b'"c"'))),
    )


def test_what_was_answered_cancelled_or_asked_for_no_answer_is_not_answered_again() -> None:
    converse(
        *START,
        *sent(call('""', "{}")),
        *answered(result('""')),
        *sent(call("1", "{}")),
        *answered(b'{"id":1.0,"result":{"x":NaN,"y":"\\ud800\xff"}}\n'),
        *sent(request("2", "ping")),
        *sent(b'{"method":"notifications/cancelled","params":{"requestId":2}}\n'),
        *sent(b'{"method":"notifications/cancelled","params":5}\n'),
        *sent(b'{"method":"x"}\n{"id":null,"method":"x"}\n{"id":3,"result":{}}\n[]\nnoise\n'),
        *sent(request("4", "ping")),
        *answered(b'{"id":4,"result":{"x":tru}}\n'),
        server_exits(3),
    )


def test_a_log_line_that_is_an_object_with_an_id_answers_nothing() -> None:
    logged = b'{"level":"info","id":1,"message":"called"}\n'
    converse(*START, *sent(call("1", BAD)), *answered(logged), server_exits(3), to_client(EXITED % b"1"))


@pytest.mark.parametrize("odd", [b"true", b"null", b"[1]", b"{}", b'"1"'])
def test_a_cancellation_that_names_no_open_request_cancels_nothing(odd: bytes) -> None:
    nothing = b'{"method":"notifications/cancelled","params":{"requestId":%s}}\n' % odd
    converse(*sent(request("1", "ping")), *sent(nothing), server_exits(3), to_client(EXITED % b"1"))


def test_a_request_that_a_strict_decoder_refuses_is_open_too() -> None:
    converse(
        *sent(b'{"id":1,"method":"x","params":{"a":NaN}}\n'),
        *sent(b'\xef\xbb\xbf{"params":%s,"id":2,"method":"x"}\n' % DEEP),
        server_exits(3),
        to_client(EXITED % b"1" + EXITED % b"2"),
    )


@pytest.mark.parametrize("code", [0, 1, 143])
def test_the_exit_code_is_named(code: int) -> None:
    said = b'{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"server exited (code %d)"}}\n' % code
    converse(*sent(request("1", "ping")), server_exits(code), to_client(said))


def test_a_call_that_waits_when_the_server_dies_is_answered_too() -> None:
    converse(
        *handshake(),
        client(call("1", '{"line":5.0}') + request("2", "ping")),
        to_server(question(1)),
        waits_until(2.0),
        server_exits(3),
        to_client(EXITED % b"1" + EXITED % b"2"),
        goes_on(),
    )
