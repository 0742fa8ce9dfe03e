"""Arguments over a protobuf `Struct`, alone and with their text beside it."""

import json
import math
import os
import subprocess
import sys
from collections import UserDict
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.struct_pb2 import Struct
from hypothesis import given
from hypothesis import strategies as st

import argfit.struct
from argfit import Fitter
from argfit.struct import Arrived, from_both, from_struct, raw_args_json, to_struct

ROOT = Path(__file__).resolve().parents[1]
BEYOND = 2**53 + 1
TOOL = {"type": "object", "properties": {"line": {"type": "integer"}, "id": {"type": "integer"}}}

SCALARS = st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    SCALARS | st.text(),
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(st.text(), parts, max_size=3),
    max_leaves=8,
)
ARGUMENTS = st.dictionaries(st.text(), VALUES, max_size=4)


def sent(arguments: dict[str, Any]) -> Struct:
    """What a reader at the other end of the wire holds."""
    struct = Struct()
    struct.ParseFromString(to_struct(arguments).SerializeToString())
    return struct


def test_what_comes_of_a_struct_is_fitted_and_the_text_beside_it_need_not_be() -> None:
    arguments = {"line": 5, "id": BEYOND}
    alone = Fitter(TOOL).fit(from_struct(sent(arguments)))
    assert alone.arguments == {"id": 2**53, "line": 5}
    assert {change.path: change.at_risk for change in alone.changes} == {("id",): True, ("line",): False}
    both = Fitter(TOOL).fit(from_struct(sent(arguments), raw_args_json(arguments)))
    assert (both.ok, both.arguments, both.changes) == (True, arguments, ())


@given(ARGUMENTS)
def test_a_struct_holds_what_protobufs_own_reader_finds_in_it(arguments: dict[str, Any]) -> None:
    struct = sent(arguments)
    assert from_struct(struct) == MessageToDict(struct)
    assert list(from_struct(struct)) == sorted(arguments)


@given(ARGUMENTS)
def test_with_its_text_nothing_is_lost(arguments: dict[str, Any]) -> None:
    arrived = from_both(sent(arguments), raw_args_json(arguments))
    assert (arrived.exact, arrived.disagrees, arrived.at_risk) == (True, (), ())
    assert json.dumps(arrived.arguments) == json.dumps(arguments)


@pytest.mark.parametrize(
    ("raw", "places"),
    [
        ('{"line":6,"id":9007199254740993}', [("line",)]),
        ('{"line":5}', [("id",)]),
        ('{"line":5,"id":9007199254740993,"more":null}', [("more",)]),
        ('{"line":true,"id":"9007199254740993"}', [("line",), ("id",)]),
        ('{"line":5,"id":9007199254740999}', [("id",)]),
        ('{"line":[5],"id":9007199254740993}', [("line",)]),
        ('{"line":5,"line":5,"id":9007199254740993}', [()]),
        ('{"line":NaN,"id":9007199254740993}', [()]),
        ("[]", [()]),
        ('{"line":', [()]),
        ("\ud800", [()]),
    ],
)
def test_a_text_that_says_otherwise_is_told_and_does_not_count(raw: str, places: list[Any]) -> None:
    arrived = from_both(sent({"line": 5, "id": BEYOND}), raw)
    assert arrived == Arrived({"id": 2.0**53, "line": 5.0}, False, tuple(places), (("id",),))


def test_the_digits_are_those_of_the_text() -> None:
    whole = from_both(sent({"id": BEYOND}), '{"id":9007199254740993.0}')
    assert (whole.exact, whole.arguments) == (True, {"id": BEYOND})
    finer = from_both(sent({"a": 5}), '{"a":5.0000000000000001}')
    assert (finer.exact, finer.arguments, finer.at_risk) == (False, {"a": 5.0}, (("a",),))


@pytest.mark.parametrize(
    ("raw", "read"),
    [
        ("9007199254740993e0", BEYOND),
        ("9.007199254740993e15", BEYOND),
        ("9.007199254740993E+15", BEYOND),
        ("-900719925474099.3e1", -BEYOND),
        ("900719925474099300e-2", BEYOND),
        ("12345678901234567891234e1", 123456789012345678912340),
        ("9007199254740992e0", 2.0**53),
        ("-7.116421048193807000e18", -7116421048193807000),
        ("1e23", 1e23),
        ("1.7976931348623157e308", 1.7976931348623157e308),
        ("1E5", 1e5),
    ],
)
def test_a_whole_number_keeps_its_digits_however_it_is_written(raw: str, read: Any) -> None:
    arrived = from_both(sent({"id": float(raw)}), f'{{"id":{raw}}}')
    assert arrived.exact
    assert repr(arrived.arguments["id"]) == repr(read)


@pytest.mark.parametrize("held", [math.inf, -math.inf])
@pytest.mark.parametrize("raw", ["1e400", "-1e400", "1" + "0" * 400, "-1" + "0" * 400], ids=lambda raw: raw[:5])
def test_a_number_beyond_all_floats_has_its_sign_and_is_exact_where_all_its_digits_are_there(
    raw: str, held: float
) -> None:
    struct = Struct()
    struct.fields["a"].number_value = held
    arrived = from_both(struct, f'{{"a":{raw}}}')
    if (held < 0) is not raw.startswith("-"):
        assert arrived == Arrived({"a": held}, False, (("a",),), (("a",),))
    elif "e" in raw:
        assert arrived == Arrived({"a": held}, False, (), (("a",),))
    else:
        assert arrived == Arrived({"a": int(raw)}, True)


@pytest.mark.parametrize("raw", [None, "", b""], ids=repr)
def test_without_a_text_the_struct_counts(raw: str | bytes | None) -> None:
    assert from_both(sent({"a": [1, {"b": -(2**60)}]}), raw) == Arrived(
        {"a": [1.0, {"b": -(2.0**60)}]}, exact=False, at_risk=(("a", 1, "b"),)
    )


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"a": math.nan}, ValueError, "NaN and infinities"),
        ({"a": [{"b": -math.inf}]}, ValueError, "NaN and infinities"),
        ({"a": 10**400}, ValueError, "1329 bits"),
        ({"a": {1}}, TypeError, "set is no JSON"),
        ({1: 2}, TypeError, "a name is text"),
        ([1], TypeError, "arguments are an object"),
        ({"a": "\ud800"}, ValueError, "lone surrogate"),
        ({"\ud800": 1}, ValueError, "lone surrogate"),
    ],
)
def test_what_a_struct_cannot_hold_is_an_error_that_says_what_to_send(
    arguments: Any, error: type[Exception], words: str
) -> None:
    for make in (to_struct, raw_args_json):
        with pytest.raises(error, match=words):
            make(arguments)


def carriers() -> Any:
    """A message that holds a `Struct`, as every message that carries a call does."""
    file = FileDescriptorProto(name="carrier.proto", package="carrier", syntax="proto3")
    file.dependency.append("google/protobuf/struct.proto")
    field = file.message_type.add(name="Carrier").field.add(name="arguments", number=1)
    field.type, field.label, field.type_name = field.TYPE_MESSAGE, field.LABEL_OPTIONAL, ".google.protobuf.Struct"
    pool = DescriptorPool()
    pool.AddSerializedFile(Struct.DESCRIPTOR.file.serialized_pb)
    pool.AddSerializedFile(file.SerializeToString())
    return GetMessageClass(pool.FindMessageTypeByName("carrier.Carrier"))


CARRIER = carriers()


def is_read(struct: bytes) -> bool:
    """Whether protobuf reads a message that carries a `Struct`."""
    carrier = b"\x0a" + varint(len(struct)) + struct
    try:
        CARRIER().ParseFromString(carrier)
    except DecodeError:
        return False
    return True


def varint(number: int) -> bytes:
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + varint(number >> 7)


def objects(levels: int, leaf: Any) -> Any:
    return {"a": objects(levels - 1, leaf)} if levels else leaf


def lists(levels: int, leaf: Any) -> Any:
    return [lists(levels - 1, leaf)] if levels else leaf


@pytest.mark.parametrize("leaf", [1, "x", None, {}, []], ids=repr)
@pytest.mark.parametrize("nested", [objects, lists, lambda levels, leaf: lists(levels, objects(7, leaf))])
def test_what_protobuf_would_not_read_is_an_error_before_it_is_written(
    nested: Any, leaf: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for make in (to_struct, raw_args_json):
        deepest = next(levels for levels in range(200) if not_made(make, {"a": nested(levels + 1, leaf)}))
        with monkeypatch.context() as patched:
            patched.setattr(argfit.struct, "_DEEPEST", 1_000)
            written = [to_struct({"a": nested(levels, leaf)}) for levels in (deepest, deepest + 1)]
        assert [is_read(struct.SerializeToString()) for struct in written] == [True, False]


def not_made(make: Any, arguments: Any) -> bool:
    try:
        make(arguments)
    except ValueError as error:
        return "nest too deep for a Struct: some 33 objects, or 48 lists" in str(error)
    return False


def test_protobufs_two_implementations_read_equally_deep() -> None:
    tested = "tests/test_struct.py::test_what_protobuf_would_not_read_is_an_error_before_it_is_written"
    for implementation in ("python", "upb"):
        environment = {**os.environ, "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": implementation}
        told = "from google.protobuf.internal import api_implementation; print(api_implementation.Type())"
        command = [sys.executable, "-c", told]
        found = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=True).stdout
        if found.strip() != implementation:
            pytest.skip(f"protobuf has no {implementation} here")
        command = [sys.executable, "-m", "pytest", "-q", tested]
        subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, timeout=120, check=True)


def test_what_holds_itself_is_an_error_that_says_so() -> None:
    looped: dict[str, Any] = {}
    looped["a"] = [looped]
    for make in (to_struct, raw_args_json):
        with pytest.raises(ValueError, match="nest too deep"):
            make(looped)


def test_mappings_of_any_kind_are_objects_at_every_depth() -> None:
    inner = MappingProxyType({"id": BEYOND, "more": (MappingProxyType({"b": UserDict(c=1)}), None)})
    arguments = MappingProxyType({"a": inner})
    plain = {"a": {"id": BEYOND, "more": [{"b": {"c": 1}}, None]}}
    assert raw_args_json(arguments) == json.dumps(plain, separators=(",", ":"))
    assert from_both(to_struct(arguments), raw_args_json(arguments)) == Arrived(plain, exact=True)
