"""The one door to jsonschema-rs: never online, and formats only describe."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from argfit import Fitter
from argfit.core.validator import Unjudgeable, registry_of, validator

HOME = "https://example.com/tool"


class Server(HTTPServer):
    """A loopback server that has a schema for whoever asks, and counts who does."""

    asked = 0

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/n.json"


class Answer(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        assert isinstance(self.server, Server)
        self.server.asked += 1
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"type": "integer"}')

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(("127.0.0.1", 0), Answer) as listening:
        thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield listening
        listening.shutdown()
        thread.join(timeout=5)


@pytest.mark.parametrize("keyword", ["$ref", "$dynamicRef"])
def test_a_remote_reference_is_never_fetched(server: Server, keyword: str) -> None:
    fitter = Fitter({"properties": {"n": {keyword: server.address}}})
    assert fitter.fit({"n": "x"}).ok
    assert tuple(fitter.plan.unusable) == (f"#/properties/n/{keyword}",)
    assert server.asked == 0


def test_a_remote_schema_of_schemas_is_never_fetched(server: Server) -> None:
    assert not Fitter({"$schema": server.address, "required": ["n"]}).fit({}).ok
    assert server.asked == 0


def test_a_reference_to_a_file_is_never_read(tmp_path: Path) -> None:
    (tmp_path / "n.json").write_text('{"type": "integer"}')
    fitter = Fitter({"properties": {"n": {"$ref": (tmp_path / "n.json").as_uri()}}})
    assert fitter.fit({"n": "x"}).ok
    assert tuple(fitter.plan.unusable) == ("#/properties/n/$ref",)


def test_a_format_describes_and_does_not_judge() -> None:
    assert validator({"format": "date"}).is_valid("tomorrow")


@pytest.mark.parametrize(
    "schema",
    [{"type": "int"}, {"$ref": "#/gone"}, {"pattern": "("}, {"type": object()}, {5: 5}, {"$schema": "urn:no"}],
    ids=str,
)
def test_a_schema_that_is_refused_is_one_kind_of_error(schema: object) -> None:
    with pytest.raises(Unjudgeable):
        validator(schema)


def test_a_part_is_judged_by_reference_into_a_registry() -> None:
    registry = registry_of(HOME, {"$defs": {"n": {"type": "integer"}}})
    part = validator({"$ref": f"{HOME}#/$defs/n"}, registry)
    assert [part.is_valid(value) for value in (5, "x")] == [True, False]
