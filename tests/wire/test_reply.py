import json

import pytest

from argfit.core.fitter import Fitter
from argfit.wire import reply

FIT = Fitter(
    {
        "properties": {"from": {"type": "integer"}, "rows": {"items": {"type": "boolean"}}},
        "required": ["from"],
        "additionalProperties": False,
    }
).fit({"rows": [True, "\u00e9"], "\u00e9": 1})


def test_a_question_is_one_line_with_what_it_needs_and_no_more() -> None:
    assert reply.question("q-1", None, None) == b'{"jsonrpc":"2.0","id":"q-1","method":"tools/list","params":{}}\n'
    assert reply.question("q-1", 'a"\u00e9', {"x": 1, "progressToken": 2}) == (
        b'{"jsonrpc":"2.0","id":"q-1","method":"tools/list","params":{"cursor":"a\\"\\u00e9","_meta":{"x":1}}}\n'
    )


def test_a_question_leaves_the_calls_own_meta_as_it_was() -> None:
    meta = {"progressToken": 2}
    reply.question("q-1", None, meta)
    assert meta == {"progressToken": 2}


def test_a_refusal_says_in_text_and_as_data_what_did_not_fit() -> None:
    line = reply.refusal(b'"\\u0031"', "fa\u00ebrm", FIT, modern=False, server_info={"name": "s"})
    assert line.startswith(b'{"jsonrpc":"2.0","id":"\\u0031","result":{')
    assert line.endswith(b"}\n")
    assert line.isascii()
    answer = json.loads(line)["result"]
    text = f"An error occurred invoking 'fa\u00ebrm': {FIT.message}"
    assert answer["content"] == [{"type": "text", "text": text}]
    assert answer["isError"] is True
    assert answer["_meta"] == {
        "io.github.argfit/problems": [
            {"path": ["from"], "code": "required", "words": "is required"},
            {"path": ["rows", 1], "code": "type", "words": "must be true or false"},
            {"path": ["\u00e9"], "code": "unknown", "words": "is not an argument of this tool"},
        ]
    }
    assert answer.keys() == {"content", "isError", "_meta"}


@pytest.mark.parametrize("info", [None, {"name": "s", "version": "1"}])
def test_a_modern_refusal_is_complete_and_stamped_where_the_stamp_is_known(info: dict[str, str] | None) -> None:
    answer = json.loads(reply.refusal(b"1", "goto", FIT, modern=True, server_info=info))["result"]
    assert answer["resultType"] == "complete"
    assert answer["_meta"].get("io.modelcontextprotocol/serverInfo") == info
    assert ("io.modelcontextprotocol/serverInfo" in answer["_meta"]) is (info is not None)


def test_a_server_that_is_gone_is_an_error_with_its_exit_code() -> None:
    assert reply.server_gone(b"1.0", 143) == (
        b'{"jsonrpc":"2.0","id":1.0,"error":{"code":-32000,"message":"server exited (code 143)"}}\n'
    )


def test_a_note_says_what_differs_from_the_published_schema() -> None:
    assert reply.note(FIT) == f"Note: these arguments differ from the tool's published schema: {FIT.message}"


NOTED = b'{"type":"text","text":"\\u00e9 \\"x\\""}'


@pytest.mark.parametrize(
    ("line", "noted"),
    [
        (b'{"result":{"content":[1]}}\n', b'{"result":{"content":[1,%s]}}\n' % NOTED),
        (b' {"result" : {"content" : [ ] , "x":1.0}}', b' {"result" : {"content" : [ %s] , "x":1.0}}' % NOTED),
        (b'\xef\xbb\xbf{"result":{"content":["]"]}}', b'\xef\xbb\xbf{"result":{"content":["]",%s]}}' % NOTED),
        (b'{"error":{"message":"no"}}', b'{"error":{"message":"no \\u00e9 \\"x\\""}}'),
        (b'{"error":{"message":""}}', b'{"error":{"message":"\\u00e9 \\"x\\""}}'),
        (b'{"error":{"message":"a \\"b\\""}}', b'{"error":{"message":"a \\"b\\" \\u00e9 \\"x\\""}}'),
        (b'{"error":{"message":5}}', b'{"error":{"message":5}}'),
        (b'{"result":{"content":{}}}', b'{"result":{"content":{}}}'),
        (b'{"result":{"content":[1}', b'{"result":{"content":[1}'),
        (b'{"content":[1],"message":"no"}', b'{"content":[1],"message":"no"}'),
        (b"no message", b"no message"),
    ],
)
def test_a_note_is_added_where_an_error_has_a_place_for_it(line: bytes, noted: bytes) -> None:
    assert reply.with_note(line, '\u00e9 "x"') == noted


def test_a_note_may_belong_to_what_is_delivered_inside_a_result() -> None:
    line = b'{"result":{"content":[],"result":{"content":[1]},"error":{"message":"no"}}}'
    noted = line.replace(b"[1]", b"[1,%s]" % NOTED)
    assert reply.with_note(line, '\u00e9 "x"', ("result",)) == noted
    failed = b'{"error":{"message":"x"},"result":{"error":{"message":"no"}}}'
    assert reply.with_note(failed, "x", ("result",)) == failed.replace(b'"no"', b'"no x"')
