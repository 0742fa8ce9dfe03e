"""Edits are spliced into the text they name; what they do not write stays."""

import pytest

from argfit.core.edit import Edit, spliced

TEXT = b'{ "a" : 1.0 , "b":{"item": [ 2.0 ]}, "c":"x" }'


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ([Edit(("a",), "write", b"1")], b'{ "a" : 1 , "b":{"item": [ 2.0 ]}, "c":"x" }'),
        ([Edit(("a",), "drop")], b'{ "b":{"item": [ 2.0 ]}, "c":"x" }'),
        ([Edit(("c",), "drop"), Edit(("b",), "drop")], b'{ "a" : 1.0 }'),
        ([Edit(("b", "item"), "drop")], b'{ "a" : 1.0 , "b":{}, "c":"x" }'),
        ([Edit(("a",), "key", 'A "')], b'{ "A \\"" : 1.0 , "b":{"item": [ 2.0 ]}, "c":"x" }'),
        ([Edit(("b",), "lift", "item")], b'{ "a" : 1.0 , "b":[ 2.0 ], "c":"x" }'),
        (
            [Edit(("b",), "lift", "item"), Edit(("b", "item", 0), "write", b"2"), Edit(("b",), "key", "B")],
            b'{ "a" : 1.0 , "B":[ 2 ], "c":"x" }',
        ),
        ([Edit(("a",), "wrap"), Edit(("a",), "write", b"1")], b'{ "a" : [1] , "b":{"item": [ 2.0 ]}, "c":"x" }'),
        ([Edit(("a",), "write", b"1"), Edit(("a",), "write", b'"1"')], TEXT.replace(b"1.0", b'"1"')),
        ([Edit((), "write", b"{}")], b"{}"),
        ([], TEXT),
    ],
    ids=["write", "drop", "drop the rest", "drop inside", "key", "lift", "all at once", "wrap", "last", "root", "none"],
)
def test_edits_are_spliced_where_they_name(edits: list[Edit], expected: bytes) -> None:
    assert spliced(TEXT, edits) == expected
