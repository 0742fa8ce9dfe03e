import json

import msgspec
import pytest

from argfit.core.spans import Member
from argfit.wire.message import (
    TAIL,
    Call,
    UnsureMessage,
    arguments_span,
    batch_members,
    id_of,
    is_json,
    raw_id,
    raw_items,
    raw_members,
    read_call,
    read_message,
    skim,
    value_of,
)

DEEP = b"[" * 10_000 + b"]" * 10_000


@pytest.mark.parametrize(
    ("spelled", "value"),
    [
        (b"1", 1),
        (b"1.0", 1),
        (b"1e2", 100),
        (b'"1"', "1"),
        (b'""', ""),
        (b"-7", -7),
        (b"0", 0),
        (b"123456789012345678901234567890", 123456789012345678901234567890),
        (b'"\\ud800"', "\ud800"),
        (b"null", None),
        (b"true", None),
        (b"[1]", None),
        (b'{"a":1}', None),
    ],
)
def test_an_id_is_text_or_a_number_compared_by_value_and_kept_as_spelled(spelled: bytes, value: object) -> None:
    message = read_message(b'{"id": %s ,"method":"ping"}\n' % spelled)
    assert message is not None
    assert id_of(message.id) == value
    assert raw_id(message.id) == spelled


def test_an_id_that_is_not_there_is_null() -> None:
    assert id_of(msgspec.UNSET) is None
    assert raw_id(msgspec.UNSET) == b"null"


def test_a_kept_id_does_not_keep_its_message() -> None:
    message = read_message(b'{"id":"1","params":"' + b"x" * 1000 + b'"}')
    assert message is not None
    assert type(raw_id(message.id)) is bytes


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":7,"method":"ping"}\n',
        b'\xef\xbb\xbf{"id":7,"method":"ping"}\n',
        b'  {"id":7,"method":"ping"}\r\n',
        b'{"id":7,"method":"ping","params":{"x":NaN}}',
        b'{"id":7,"method":"ping","params":{"x":"\\ud800"}}',
        b'{"id":7,"method":"ping","params":{"x":"\xff"}}',
        b'{"params":' + DEEP + b',"id":7,"method":"ping"}',
        b'{"id":7,"method":"ping","params":[1]}',
        b'{"m\\u0065thod":"ping","id":7}',
        b'{"id":7,"method":"ping","error":Infinity}',
    ],
    ids="plain,mark,blanks,nan,surrogate,not-utf-8,deep,list,escaped,infinity".split(","),
)
def test_what_a_strict_decoder_refuses_still_has_its_id_and_method(line: bytes) -> None:
    message = read_message(line)
    assert message is not None
    assert (id_of(message.id), message.method) == (7, "ping")


def test_a_message_read_tolerantly_has_its_other_members_too() -> None:
    message = read_message(b'{"id":7,"result":{"x":NaN},"error":1,"params":[],"more":2}')
    assert message is not None
    assert isinstance(message, UnsureMessage)
    members = [bytes(raw) for raw in (message.result, message.error, message.params) if raw is not msgspec.UNSET]
    assert members == [b'{"x":NaN}', b"1", b"[]"]


@pytest.mark.parametrize(
    "line",
    [b"", b"\n", b"listening on 8080\n", b"[]", b'[{"id":1}]', b"5", b'"text"', b"{", b'{"id":', b"\xff\n", b"{]}\n"],
)
def test_a_line_that_is_no_object_is_no_message(line: bytes) -> None:
    assert read_message(line) is None


@pytest.mark.parametrize(
    ("line", "answers", "failed"),
    [
        (b'{"id":1,"result":{}}', True, False),
        (b'{"id":1,"result":null}', True, False),
        (b'{"id":1,"error":{"code":1}}', True, True),
        (b'{"id":1,"result":{},"error":null}', True, False),
        (b'{"id":1,"level":"info","message":"a log line"}', False, False),
    ],
)
def test_only_a_result_or_an_error_answers(line: bytes, answers: bool, failed: bool) -> None:
    message = read_message(line)
    assert message is not None
    assert (message.answers, message.failed) == (answers, failed)


@pytest.mark.parametrize(
    ("line", "json"),
    [
        (b'{"a":NaN}', True),
        (b'{"a":"\\ud800"}\n', True),
        (b'{"a":1,"a":2}', True),
        (b"\xef\xbb\xbf" + DEEP, True),
        (b'{"a":tru}', False),
        (b'{"a":1 "b":2}', False),
        (b'{"a":1}x', False),
        (b'{"a":01}', False),
        (b"", False),
    ],
)
def test_what_other_readers_take_is_json_though_a_strict_decoder_refuses_it(line: bytes, json: bool) -> None:
    assert is_json(line) is json


def test_what_a_strict_decoder_refuses_is_read_up_to_one_mebibyte() -> None:
    odd = b'{"x":NaN,"y":"%s"}'
    assert is_json(odd % (b"x" * (2**20 - len(odd) + 2)))
    assert not is_json(odd % (b"x" * (2**20 - len(odd) + 3)))


@pytest.mark.parametrize(
    ("text", "members", "items"),
    [
        (b'{"a":1, "b" : [2] }', {"a": b"1", "b": b"[2]"}, []),
        (b'\xef\xbb\xbf {"a":NaN}', {"a": b"NaN"}, []),
        (b'[1, {"a":[2]}]', None, [b"1", b'{"a":[2]}']),
        (b"[", None, []),
        (b"5", None, []),
        (b"", None, []),
        (b'{"a":', None, []),
        (b'["a', None, []),
    ],
)
def test_the_parts_of_a_text_are_found_as_bytes(
    text: bytes, members: dict[str, bytes] | None, items: list[bytes]
) -> None:
    found = raw_members(text)
    assert (None if found is None else {key: bytes(raw) for key, raw in found.items()}) == members
    assert raw_items(text) == items


def test_a_method_that_is_no_text_is_none() -> None:
    message = read_message(b'{"id":7,"method":5}')
    assert message is not None
    assert message.method is msgspec.UNSET


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        (b'[{"id":1},{"id":2}]\n', [b'{"id":1}', b'{"id":2}']),
        (b'\xef\xbb\xbf [ {"id":1} ]', [b'{"id":1}']),
        (b"[]", []),
        (b"[info] started", [b"info"]),
    ],
)
def test_the_messages_of_a_batch_are_found_where_they_stand(line: bytes, parts: list[bytes]) -> None:
    spans = batch_members(line)
    assert spans is not None
    assert [line[span.start : span.end] for span in spans] == parts
    assert all(isinstance(span, Member) for span in spans)


def test_a_list_of_more_than_ten_thousand_is_no_batch() -> None:
    spans = batch_members(b"[%s]" % b",".join([b"1"] * 10_000))
    assert spans is not None
    assert len(spans) == 10_000
    assert batch_members(b"[%s]" % b",".join([b"1"] * 10_001)) is None


@pytest.mark.parametrize("line", [b"", b'{"id":[1]}', b"[12:00:01] up", b'[{"id":1}', b"x[1]"])
def test_what_is_no_batch_has_no_messages(line: bytes) -> None:
    assert batch_members(line) is None


def read(line: bytes) -> Call | None:
    message = read_message(line)
    assert message is not None
    return read_call(message)


PARAMS = b'"name":"goto","arguments":{"line":5.0},"_meta":{"a":1},"requestState":"s","task":{},"more":%s'


@pytest.mark.parametrize("more", [b"1", b"NaN", b'"\\ud800"', b'"\xff"', DEEP], ids=range(5))
def test_a_call_is_read_member_by_member(more: bytes) -> None:
    call = read(b'{"id":1.0,"method":"tools/call","params":{%s}}' % (PARAMS % more))
    assert call == Call(1, b"1.0", "goto", b'{"line":5.0}', b'{"a":1}', "s", as_task=True)
    assert type(call.id) is float


def test_what_a_call_leaves_out_is_none_and_null_arguments_are_null() -> None:
    said = b'{"id":"1","method":"tools/call","params":{"name":"goto"%s}}'
    assert read(said % b"") == Call("1", b'"1"', "goto", None, None, None, as_task=False)
    assert read(said % b',"arguments":null') == Call("1", b'"1"', "goto", b"null", None, None, as_task=False)


@pytest.mark.parametrize(
    "params", [b"{}", b"[1]", b"5", b'{"name":5}', b'{"name":null,"x":NaN}', b'["name",NaN]', b'{"x":"name"}']
)
def test_params_that_name_no_tool_are_no_call(params: bytes) -> None:
    assert read(b'{"id":1,"method":"tools/call","params":%s}' % params) is None


@pytest.mark.parametrize(
    "line",
    [
        b'{"id":1,"method":"tools/call"}',
        b'{"method":"tools/call","params":{"name":"a"}}',
        b'{"id":null,"method":"tools/call","params":{"name":"a"}}',
        b'{"id":1,"method":"tools/list","params":{"name":"a"}}',
        b'{"id":1,"params":{"name":"a"}}',
    ],
)
def test_what_is_no_request_for_a_call_is_no_call(line: bytes) -> None:
    assert read(line) is None


@pytest.mark.parametrize(
    ("meta", "modern"),
    [
        (b'{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}', True),
        (b'{"progressToken":1}', False),
        (b'["io.modelcontextprotocol/protocolVersion"]', False),
        (b"null", False),
        (b'{"io.modelcontextprotocol/protocolVersion":NaN}', True),
    ],
)
def test_a_call_that_says_its_version_is_modern(meta: bytes, modern: bool) -> None:
    call = read(b'{"id":1,"method":"tools/call","params":{"name":"a","_meta":%s}}' % meta)
    assert call is not None
    assert call.is_modern is modern


@pytest.mark.parametrize("state", [b"5", b"null", b"{}"])
def test_a_request_state_that_is_no_text_is_none(state: bytes) -> None:
    call = read(b'{"id":1,"method":"tools/call","params":{"name":"a","requestState":%s}}' % state)
    assert call is not None
    assert call.request_state is None


@pytest.mark.parametrize(
    ("raw", "value"),
    [(b"5", 5), (b'{"a":NaN}', None), (b'"\\ud800"', "\ud800"), (b"null", None), (b"{", None), (b"nonsense", None)],
)
def test_a_value_is_read_leniently_and_none_where_it_cannot_be(raw: bytes, value: object) -> None:
    found = value_of(msgspec.Raw(raw))
    assert found == value if value is not None or raw != b'{"a":NaN}' else found["a"] != found["a"]
    assert value_of(None) is None
    assert value_of(msgspec.UNSET) is None


def test_a_value_ten_thousand_levels_deep_is_read() -> None:
    assert isinstance(value_of(msgspec.Raw(DEEP)), list)


# -- where the arguments stand --------------------------------------------------------------------------

CALL = b'{"id":1,"method":"tools/call","params":{"name":"a","arguments":{"x":1},"_meta":{}}}'


def arguments(line: bytes) -> bytes | None:
    """What stands where the arguments were found; None where it is not for us to say."""
    call = read(line)
    assert call is not None
    span = arguments_span(line, call.arguments)
    return None if span is None else line[span[0] : span[1]]


@pytest.mark.parametrize(
    "line",
    [
        CALL,
        b"\xef\xbb\xbf" + CALL,
        CALL.replace(b'{"x":1}', b' {"x":1} '),
        CALL.replace(b'"_meta":{}', b'"_meta":{"x":1}'),
        CALL.replace(b'"name"', b'"more":{"x":1},"name"'),
        CALL.replace(b'"id"', b'"more":[{"x":1}],"id"'),
        CALL.replace(b'"_meta":{}', b'"_meta":{"arguments":{"x":2},"name":5}'),
        CALL.replace(b'"id":1', b'"id":1,"arguments":{"x":2}'),
        CALL.replace(b'"arguments"', b'"argum\\u0065nts"'),
        CALL.replace(b'"id":1', b'"id":"arguments"'),
        CALL.replace(b'"id":1', b'"id":"{\\"x\\":1}"'),
    ],
)
def test_the_arguments_are_found_whatever_stands_around_them(line: bytes) -> None:
    assert arguments(line) == b'{"x":1}'
    span = arguments_span(line, b'{"x":1}')
    assert span is not None
    assert line[: span[0]].rstrip().endswith(b'nts":')


def test_arguments_that_are_not_sent_stand_nowhere() -> None:
    assert arguments_span(CALL.replace(b'"arguments"', b'"args"'), None) == (0, 0)


@pytest.mark.parametrize(
    ("said", "again"),
    [
        (b'"id":1', b'"id":1,"id":2'),
        (b'"method":', b'"method":"ping","method":'),
        (b'"params":', b'"params":{},"params":'),
        (b'"params":', b'"p\\u0061rams":{},"params":'),
        (b'"name":"a"', b'"name":"a","n\\u0061me":"b"'),
        (b'"arguments":', b'"arguments":{},"arguments":'),
        (b'"arguments":', b'"arguments":{"x":1},"arguments":'),
        (b'"_meta":{}', b'"_meta":{},"_meta":{}'),
    ],
)
def test_a_message_that_says_twice_what_is_called_with_what_is_not_for_us_to_judge(said: bytes, again: bytes) -> None:
    assert arguments(CALL.replace(said, again)) is None


def test_other_doubled_keys_are_nobodys_business() -> None:
    line = CALL.replace(b'"id"', b'"more":1,"more":2,"id"').replace(b'"_meta":{}', b'"_meta":{"id":1,"id":2}')
    assert arguments(line) == b'{"x":1}'


# -- messages too large to parse ----------------------------------------------------------------------

LONG = b"x" * 100


@pytest.mark.parametrize("spelled", [b"7", b"7.0", b'"seven"', b'"a\\"b"'])
@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"x":"' + LONG + b'"}}\n',
        b'{"method":"tools/call","params":{"id":3,"x":"' + LONG + b'"},"jsonrpc":"2.0","id":%s}\n',
        b'{"method":"tools/call","params":{"id":3,"x":"' + LONG + b'"},"id" : %s , "jsonrpc":"2.0"}\r\n',
        b'{"params":{"id":3,"method":"no","x":"' + LONG + b'"},"jsonrpc":"2.0","id":%s,"method":"tools/call"}',
        b'{"id":%s,"params":{"x":"' + LONG + b'"},"method":"tools/call","jsonrpc":"2.0"}',
    ],
    ids=["first", "last", "before the version", "both last", "one at each end"],
)
def test_an_overlong_message_has_the_id_at_either_end(line: bytes, spelled: bytes) -> None:
    line = line.replace(b"%s", spelled)
    found = skim(line[:60], line[-90:])
    assert found.method == "tools/call"
    assert id_of(found.id) == json.loads(spelled)
    assert raw_id(found.id) == spelled


@pytest.mark.parametrize(
    ("head", "tail"),
    [
        (b"no message at all", b"..."),
        (b"", b""),
        (b'{"result":{"x":"', b'","id":5}}'),
        (b'{"result":"', b'\\"id\\":5}"}'),
        (b'{"result":[', b'{"id":5}]}'),
        (b'{"result":', b'"x","id":null}'),
    ],
)
def test_an_id_of_something_inside_is_not_the_messages(head: bytes, tail: bytes) -> None:
    found = skim(head, tail)
    assert id_of(found.id) is None
    assert found.method is msgspec.UNSET


def test_the_end_of_a_message_has_the_last_word_as_it_has_with_other_readers() -> None:
    found = skim(b'{"id":1,"method":"x","params":"', b'","id":2}')
    assert (id_of(found.id), found.method) == (2, "x")


def test_the_kept_tail_is_long_enough_for_an_id() -> None:
    assert TAIL >= 1024
