import msgspec
import pytest

from argfit.core.choices import repairs_named
from argfit.core.fit import fit_value
from argfit.core.text import encoded
from argfit.wire.tools import Chosen, Engines, Tool, Tools

WHOLE = {"properties": {"line": {"type": "integer"}}}
TEXT = {"properties": {"line": {"type": "string"}}}


def page(*tools: tuple[str, object], **more: object) -> msgspec.Raw:
    return msgspec.Raw(encoded({"tools": [{"name": name, "inputSchema": schema} for name, schema in tools], **more}))


def known(tools: Tools, name: str, now: float = 0.0) -> Tool:
    tool = tools.get(name, now)
    assert tool is not None
    return tool


def test_a_listing_is_learned_page_by_page() -> None:
    tools = Tools()
    assert tools.learn(page(("a", WHOLE), nextCursor="2"), 0, 0.0) == "2"
    assert tools.learn(page(("b", TEXT)), 0, 0.0) is None
    assert known(tools, "a").schema == encoded(WHOLE)
    assert known(tools, "b").schema == encoded(TEXT)
    assert tools.get("c", 0.0) is None


def test_a_listing_of_before_the_change_is_old() -> None:
    tools = Tools()
    tools.learn(page(("a", WHOLE)), 0, 0.0)
    tools.changed()
    assert tools.get("a", 0.0) is None
    tools.learn(page(("a", WHOLE)), 0, 0.0)
    assert tools.get("a", 0.0) is None
    tools.learn(page(("a", TEXT)), 1, 0.0)
    assert known(tools, "a").schema == encoded(TEXT)


@pytest.mark.parametrize(
    ("more", "until"),
    [
        ({}, None),
        ({"ttlMs": 1500}, 11.5),
        ({"ttlMs": 0}, 10.0),
        ({"resultType": "complete"}, 10.0),
        ({"resultType": "complete", "ttlMs": 250.5}, 10.2505),
        ({"resultType": "complete", "ttlMs": None}, 10.0),
        ({"resultType": 5, "ttlMs": "long"}, 10.0),
        ({"ttlMs": True}, 10.0),
        ({"ttlMs": -(10**400)}, 10.0),
        ({"ttlMs": 10**400}, 10.0 + 10**8),
    ],
)
def test_a_listing_lives_for_its_time_and_one_that_can_have_none_until_it_changes(
    more: dict[str, object], until: float | None
) -> None:
    tools = Tools()
    tools.learn(page(("a", WHOLE), **more), 0, 10.0)
    assert tools.fresh_until == until
    assert known(tools, "a", 9.9).fresh_until == until
    assert (tools.get("a", 10.0) is None) is (until == 10.0)
    assert (tools.get("a", 1e9) is None) is (until is not None)


def test_a_tool_past_its_time_counts_only_where_it_was_asked_for() -> None:
    tools = Tools()
    tools.learn(page(("a", WHOLE), ttlMs=0), 0, 10.0)
    tools.learn(page(("b", WHOLE), ttlMs=0), 0, 10.0)
    assert tools.serial == 2
    assert [tools.get(name, 10.0) for name in "ab"] == [None, None]
    assert [tools.learned_since(name, 1) is not None for name in "abc"] == [False, True, False]


def test_a_schema_is_compiled_once_however_often_it_is_listed() -> None:
    tools = Tools()
    tools.learn(page(("a", WHOLE)), 0, 0.0)
    assert not known(tools, "a").compiled
    engine = tools.engine(known(tools, "a"))
    assert engine is not None
    tools.changed()
    tools.learn(page(("a", WHOLE)), 1, 0.0)
    assert tools.engine(known(tools, "a")) is engine
    tools.learn(page(("a", TEXT)), 1, 0.0)
    assert tools.engine(known(tools, "a")) not in (engine, None)


@pytest.mark.parametrize("schema", [5, "text", None, []])
def test_a_tool_whose_schema_is_no_schema_has_no_engine(schema: object) -> None:
    tools = Tools()
    tools.learn(page(("a", schema)), 0, 0.0)
    assert tools.engine(known(tools, "a")) is None
    assert known(tools, "a").compiled


def test_names_to_leave_out_are_part_of_the_engine_unless_declared() -> None:
    tools = Tools(Engines(frozenset({"line", "reason"})))
    tools.learn(page(("a", WHOLE)), 0, 0.0)
    engine = tools.engine(known(tools, "a"))
    assert engine is not None
    assert engine.strip == {"reason"}


@pytest.mark.parametrize(
    "result",
    [b"{}", b"[]", b"5", b"null", b'{"tools":5}', b'{"tools":[]}', b"{", b'{"tools":[{"name":"b"}]}', b'{"tools":NaN}'],
)
def test_what_lists_no_tool_teaches_nothing(result: bytes) -> None:
    tools = Tools()
    assert tools.learn(msgspec.Raw(result), 0, 0.0) is None
    assert tools.learn(msgspec.UNSET, 0, 0.0) is None
    assert tools.get("b", 0.0) is None


@pytest.mark.parametrize(
    "odd",
    [b'{"name":"b"}', b'{"name":5,"inputSchema":{}}', b"5", b'{"inputSchema":{}}'],
)
def test_a_tool_that_cannot_be_read_costs_only_itself(odd: bytes) -> None:
    tools = Tools()
    tools.learn(msgspec.Raw(b'{"tools":[%s,{"name":"a","inputSchema":{}}]}' % odd), 0, 0.0)
    assert known(tools, "a").schema == b"{}"


@pytest.mark.parametrize("odd", [b'"\\ud800"', b"NaN", b"[" * 2000 + b"]" * 2000], ids=["surrogate", "nan", "deep"])
def test_a_listing_that_a_strict_decoder_refuses_is_learned(odd: bytes) -> None:
    tools = Tools()
    listed = b'{"name":"a","x":%s,"inputSchema":{}},{"name":"b","x":%s},{"name":5,"inputSchema":{},"x":%s}'
    page = b'{"tools":[%s],"nextCursor":"2","ttlMs":5,"_meta":%s}' % (listed % (odd, odd, odd), STAMP)
    tools.learn(msgspec.Raw(page.replace(b'"ttlMs":5', b'"resultType":"complete"')), 0, 10.0)
    assert tools.fresh_until == 10.0
    assert tools.learn(msgspec.Raw(page), 0, 10.0) == "2"
    assert tools.fresh_until == 10.005
    assert tools.server_info == {"name": "s", "version": "1"}
    assert tools.engine(known(tools, "a")) is not None
    assert tools.get("b", 0.0) is None


@pytest.mark.parametrize("cursor", [5, None, ["2"]])
def test_a_cursor_that_is_no_text_leads_nowhere_and_costs_no_tool(cursor: object) -> None:
    tools = Tools()
    assert tools.learn(page(("a", WHOLE), nextCursor=cursor), 0, 0.0) is None
    assert known(tools, "a").schema == encoded(WHOLE)


STAMP = b'{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}'


def test_the_servers_own_stamp_is_kept_for_answers_of_ours() -> None:
    tools = Tools()
    tools.learn(page(_meta={"io.modelcontextprotocol/serverInfo": {"name": "s", "version": "1"}}), 0, 0.0)
    tools.learn(page(_meta={"another/stamp": 1}), 0, 0.0)
    tools.learn(page(_meta=["odd"]), 0, 0.0)
    assert tools.server_info == {"name": "s", "version": "1"}


# -- repairs ------------------------------------------------------------------------------------------


def _repairs(annotations: object, repairs: Chosen) -> frozenset[str]:
    tools = Tools(Engines(repairs=repairs))
    tools.learn(
        msgspec.Raw(encoded({"tools": [{"name": "a", "inputSchema": WHOLE, "annotations": annotations}]})), 0, 0.0
    )
    engine = tools.engine(known(tools, "a"))
    assert engine is not None
    return engine.repairs


@pytest.mark.parametrize("annotations", [None, {}, {"destructiveHint": False}, {"destructiveHint": "true"}, [], 5])
def test_a_tool_has_the_general_repairs_and_its_own(annotations: object) -> None:
    repairs = Chosen(
        repairs_named(["unquote", "wrap"]), {"a": repairs_named(["quote"]), "b": repairs_named(["drop-null"])}
    )
    assert _repairs(annotations, repairs) == {"unquote", "wrap", "quote"}


def test_a_tool_that_destroys_has_no_repair_that_may_widen_its_call_but_by_its_name() -> None:
    destroys = {"destructiveHint": True}
    assert _repairs(destroys, Chosen(repairs_named("all"))) == repairs_named("all") - {
        "drop-null",
        "drop-empty",
        "wrap",
    }
    assert "wrap" in _repairs(destroys, Chosen(repairs_named("all"), {"a": repairs_named(["wrap"])}))


def test_a_tool_has_the_general_formats_and_its_own() -> None:
    tools = Tools(Engines(formats=Chosen(frozenset({"date"}), {"a": frozenset({"uuid"}), "b": frozenset({"time"})})))
    dated = {"properties": {name: {"type": "string", "format": name} for name in ("date", "uuid", "time")}}
    tools.learn(msgspec.Raw(encoded({"tools": [{"name": "a", "inputSchema": dated}]})), 0, 0.0)
    engine = tools.engine(known(tools, "a"))
    assert engine is not None
    assert fit_value(engine, dict.fromkeys(("date", "uuid", "time"), "x")).message == (
        "date must be a date, YYYY-MM-DD; uuid must be an id."
    )


def test_a_tool_that_comes_to_destroy_is_compiled_anew() -> None:
    tools = Tools(Engines(repairs=Chosen(repairs_named(["wrap"]))))
    for destroys in (False, True):
        listed = {"name": "a", "inputSchema": WHOLE, "annotations": {"destructiveHint": destroys}}
        tools.learn(msgspec.Raw(encoded({"tools": [listed]})), 0, 0.0)
        engine = tools.engine(known(tools, "a"))
        assert engine is not None
        assert engine.repairs == (frozenset() if destroys else {"wrap"})


def test_callers_who_are_listed_the_same_share_what_is_compiled_and_nothing_else() -> None:
    engines = Engines()
    one, two = Tools(engines), Tools(engines)
    for tools in (one, two):
        tools.learn(page(("a", WHOLE), ("b", WHOLE)), 0, 0.0)
    first, second = known(one, "a"), known(two, "b")
    assert first.schema is second.schema
    assert one.engine(first) is two.engine(second)
    one.changed()
    assert one.get("a", 0.0) is None
    assert known(two, "a").schema is first.schema


def test_what_is_listed_as_the_same_for_everyone_is_known_to_all_until_it_changes() -> None:
    engines = Engines()
    one, two = Tools(engines), Tools(engines)
    one.learn(page(("a", WHOLE), cacheScope="public", ttlMs=1000), 0, 0.0)
    one.learn(page(("b", WHOLE), cacheScope="private", ttlMs=1000), 0, 0.0)
    assert known(two, "a", 0.5).schema == encoded(WHOLE)
    assert two.get("a", 1.0) is None
    assert two.get("b", 0.5) is None
    two.learn(page(("a", TEXT), ttlMs=1000), 0, 0.0)
    assert (known(one, "a", 0.5).schema, known(two, "a", 0.5).schema) == (encoded(WHOLE), encoded(TEXT))
    one.changed()
    assert Tools(engines).get("a", 0.5) is None
