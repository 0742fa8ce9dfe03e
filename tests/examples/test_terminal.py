"""The terminal client, through a terminal: what a user types, and what is then on the screen."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.examples.screen import PROMPT, ROOT, comes, needs_setsid, terminal
from tests.proxy.running import PATIENCE

SERVER = [sys.executable, str(ROOT / "tests" / "agents" / "strict_stdio.py")]
pytestmark = needs_setsid


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": {"ide": {"command": SERVER[0], "args": SERVER[1:]}}}))
    return path


def test_a_user_sees_what_was_typed_dispatched_changed_and_answered(config: Path) -> None:
    with terminal(config) as screen:
        assert "✓ ide: 2 tools" in screen.until(PROMPT)
        assert "get_symbol_info line= [file=]" in screen.type("tools")
        block = screen.type("get_symbol_info line=5.0 file=a.go")
        assert '┌ MCP Tool: get_symbol_info ({"line":5,"file":"a.go"})  on ide' in block
        assert "│ typed       line=5.0 file=a.go" in block
        assert "│ changed     line: '5.0' → 5  (unquote: " in block
        assert '│ dispatched  {"line":5,"file":"a.go"}' in block
        assert '│ answer      found {"line":5,"file":"a.go"}' in block
        screen.press(b"\x04")
        assert screen.process.wait(PATIENCE) == 0


def test_what_does_not_fit_is_named_and_sent_only_on_purpose(config: Path) -> None:
    with terminal(config) as screen:
        screen.until(PROMPT)
        block = screen.type("get_symbol_info line=five")
        assert "│ misfit      line must be a whole number" in block
        assert "answer" not in block
        assert 'refused {"line":"five"}' in screen.type("!get_symbol_info line=five")
        assert "no server has a tool 'nothing'" in screen.type("nothing x=1")
        assert "is no argument; write name=value" in screen.type("get_symbol_info five")


def test_a_server_that_went_away_is_connected_again_and_no_call_made_twice(config: Path) -> None:
    with terminal(config) as screen:
        screen.until(PROMPT)
        block = screen.type("other")
        assert "ide went away during the call, which may or may not have been made" in block
        assert "✓ ide: 2 tools" in block
        assert 'found {"line":8}' in screen.type("get_symbol_info line=8")


def test_a_server_that_ended_between_two_calls_is_connected_again_before_the_next(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    begins = f"import os, runpy; open({str(note)!r}, 'w').write(str(os.getpid())); runpy.run_path({SERVER[1]!r}, "
    servers = {"ide": {"command": SERVER[0], "args": ["-c", f"{begins} run_name='__main__')"]}}
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": servers}))
    with terminal(path) as screen:
        screen.until(PROMPT)
        assert 'found {"line":7}' in screen.type("get_symbol_info line=7")
        os.kill(int(note.read_text()), signal.SIGKILL)
        said: list[str] = []
        until = time.monotonic() + PATIENCE
        while "✗ ide went away" not in "".join(said) and time.monotonic() < until:  # a moment after it is gone
            said.append(screen.type("help"))
        assert "✓ ide: 2 tools" in said[-1]
        block = screen.type("get_symbol_info line=8")
        assert 'found {"line":8}' in block
        assert "went away" not in block
        assert "✓ ide: 2 tools" in screen.type("servers")


def test_what_is_shown_of_typed_json_is_what_the_server_gets_to_the_last_digit(config: Path) -> None:
    with terminal(config) as screen:
        screen.until(PROMPT)
        typed = '{"line": 9007199254740993.0, "id": 9007199254740993, "x": 1.10, "y": 0.12345678901234567890}'
        block = screen.type(f"get_symbol_info {typed}")
        sent = '{"line":9007199254740993,"id":9007199254740993,"x":1.1,"y":0.12345678901234568}'
        assert f"┌ MCP Tool: get_symbol_info ({sent})  on ide" in block
        assert f"│ typed       {typed}" in block
        assert "line: 9007199254740993.0 → 9007199254740993  (whole-number: " in block
        assert "│ rounded     0.12345678901234567890 is sent as 0.12345678901234568: the client keeps it " in block
        assert block.count("is sent as") == 1
        assert f"│ dispatched  {sent}" in block
        assert f"│ answer      found {sent}" in block


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ('{"line": 1, "file": "\\ud800"}', "only half there (a lone surrogate)"),
        ('{"line": 1, "\\ud800": 1}', "only half there (a lone surrogate)"),
        ('{"line": 1, "x": [1e400]}', "null would be sent in its place"),
        ('{"line": 1, "x": NaN}', "null would be sent in its place"),
        (f'{{"line": 1, "x": {"[" * 300}{"]" * 300}}}', "it nests deeper than the client can write"),
        ('{"line": 1, "line": 2}', "'line' stands there twice, and only one can be sent"),
        ('{"line": 1, "x": {"a": 1, "\\u0061": 1}}', "'a' stands there twice, and only one can be sent"),
        ("line=1 line=2", "'line' stands there twice, and only one can be sent"),
        ('{"line": 1', "the arguments are no JSON: Expecting ',' delimiter, at character 11"),
        ('{"line": 1} 2', "the arguments are no JSON: Extra data, at character 13"),
    ],
    ids=[
        "surrogate",
        "in a name",
        "1e400",
        "NaN",
        "deep",
        "doubled",
        "doubled inside",
        "doubled name",
        "no JSON",
        "more",
    ],
)
def test_what_the_client_cannot_send_as_it_is_is_not_sent_and_the_connection_stays(
    config: Path, typed: str, words: str
) -> None:
    with terminal(config) as screen:
        screen.until(PROMPT)
        block = screen.type(f"!get_symbol_info {typed}")
        assert words in block or words in screen.type(f"get_symbol_info {typed}")
        assert "dispatched" not in block
        block = screen.type("get_symbol_info line=2")
        assert 'found {"line":2}' in block
        assert "connecting" not in block


def test_a_call_without_arguments_is_shown_and_sent_without(config: Path) -> None:
    with terminal(config) as screen:
        screen.until(PROMPT)
        block = screen.type("!get_symbol_info")
        assert "┌ MCP Tool: get_symbol_info  on ide" in block
        assert "│ dispatched  nothing" in block
        assert "│ error       refused nothing" in block


ERRORS = {
    "forget": {"code": -32600, "message": "Session not found"},
    "invalid": {"code": -32600, "message": "no such field"},
    "busy": {"code": -32000, "message": "come back later"},
}


class Speaking(BaseHTTPRequestHandler):
    """A server by HTTP: it tells what it was asked with, and forgets a session when it is told to."""

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        method, params = message["method"], message.get("params", {})
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message.get("id")}
        if method == "initialize":
            version = params["protocolVersion"]
            info = {"name": "web", "version": "1"}
            reply["result"] = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
        elif method == "tools/list":
            names = ("whose", "forget", "invalid", "busy")
            reply["result"] = {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in names]}
        elif method == "tools/call" and params["name"] == "whose":
            reply["result"] = {"content": [{"type": "text", "text": str(self.headers["Authorization"])}]}
        elif method == "tools/call":
            reply["error"] = ERRORS[params["name"]]
        else:
            reply["error"] = {"code": -32601, "message": "Method not found"}
        body = json.dumps(reply).encode() if "id" in message else b""
        own = method == "tools/call" and params["name"] != "forget"
        self.send_response(200 if "result" in reply or own else 404 if body else 202)
        if method == "initialize":
            self.send_header("Mcp-Session-Id", "1")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        self.send_response(405)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_DELETE = do_GET  # noqa: N815

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def web() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Speaking) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,)).start()
        yield f"http://127.0.0.1:{server.server_port}/mcp"
        server.shutdown()


def test_a_server_by_http_is_spoken_to_with_its_headers_and_again_when_it_forgot_us(tmp_path: Path, web: str) -> None:
    path = tmp_path / "mcp.json"
    described = {"url": web, "headers": {"Authorization": "Bearer of it"}}
    path.write_text(json.dumps({"mcpServers": {"web": described}}))
    with terminal(path) as screen:
        assert "✓ web: 4 tools" in screen.until(PROMPT)
        assert "│ answer      Bearer of it" in screen.type("whose")
        block = screen.type("forget")
        assert "web does not take calls on this connection any more (Session not found)" in block
        assert "✓ web: 4 tools" in block
        assert "│ answer      Bearer of it" in screen.type("whose")


@pytest.mark.parametrize("tool", ["invalid", "busy"])
def test_an_error_that_a_server_by_http_answers_is_shown_and_no_end_of_its_connection(
    tmp_path: Path, web: str, tool: str
) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": {"web": {"url": web}}}))
    with terminal(path) as screen:
        screen.until(PROMPT)
        block = screen.type(tool)
        assert f"│ error       {ERRORS[tool]['code']}: {ERRORS[tool]['message']}" in block
        assert "connecting" not in block
        assert "connecting" not in screen.type("whose")


def test_a_server_whose_name_cannot_be_written_is_there_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(
        '{"mcpServers": {"\\ud800\\u001b[2J": ' + json.dumps({"command": SERVER[0], "args": SERVER[1:]}) + "}}"
    )
    with terminal(path) as screen:
        assert r"✓ \ud800\x1b[2J: 2 tools" in screen.until(PROMPT)
        assert 'found {"line":1}' in screen.type("get_symbol_info line=1")


@pytest.mark.parametrize(
    ("errors", "words"), [("strict", "is no text in this"), ("surrogateescape", "only half there")]
)
def test_a_line_that_is_no_text_is_named_and_the_session_goes_on(config: Path, errors: str, words: str) -> None:
    with terminal(config, PYTHONIOENCODING=f"utf-8:{errors}") as screen:
        screen.until(PROMPT)
        screen.press(b"get_symbol_info line=1 file=\xff\n")
        screen.until(words)
        screen.until(PROMPT)
        assert 'found {"line":2}' in screen.type("get_symbol_info line=2")


def test_tab_completes_a_tool_and_ctrl_c_leaves_the_line_but_not_the_session(config: Path) -> None:
    with terminal(config) as screen:
        screen.until(PROMPT)
        screen.press(b"get_sym\t")
        screen.until("get_symbol_info")  # completed: the prompt is listening
        screen.press(b"\x03")
        screen.press(b"\n")  # Python's readline notes a Ctrl-C at the next key, where it comes between two waits
        screen.until("Ctrl-D ends the session")
        screen.press(b"get_symbol_info line=1\n")
        screen.until('found {"line":1}')


def test_ctrl_c_leaves_out_a_server_that_does_not_come_and_leaves_no_process_behind(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    hangs = f"import os, time; open({str(note)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    servers = {
        "hangs": {"command": sys.executable, "args": ["-c", hangs]},
        "ide": {"command": SERVER[0], "args": SERVER[1:]},
    }
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": servers}))
    with terminal(path) as screen:
        screen.until("connecting hangs")
        assert comes(lambda: note.exists() and bool(note.read_text()))
        screen.press(b"\x03")
        screen.until("✗ hangs is left out")
        assert "✓ ide: 2 tools" in screen.until(PROMPT)
        assert comes(lambda: not Path(f"/proc/{note.read_text()}").exists())


def test_ctrl_c_at_the_end_leaves_no_server_behind_that_does_not_want_to_end(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    stays = (
        f"import os, runpy, signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
        f"runpy.run_path({SERVER[1]!r}, run_name='__main__'); "
        f"open({str(note)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    )
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": {"stays": {"command": SERVER[0], "args": ["-c", stays]}}}))
    with terminal(path) as screen:
        screen.until(PROMPT)
        screen.press(b"\x04")
        assert comes(lambda: note.exists() and bool(note.read_text()))
        screen.press(b"\x03")
        assert screen.process.wait(PATIENCE) == 0
        assert not Path(f"/proc/{note.read_text()}").exists()


def test_what_a_user_writes_does_not_steer_the_terminal(config: Path) -> None:
    with terminal(config) as screen:
        screen.until(PROMPT)
        before = len(screen.raw)
        screen.type('get_symbol_info {"line": 1, "file": "\\u001b[2J\\u009b2J"}')
        block = screen.raw[before:].split("┌", 1)[1]
        assert "\x9b" not in block
        assert "\x1b[2J" not in block


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"mcpServers": {"a": {"command": "b", "cwd": 5}}}', "is a folder"),
        ('{"mcpServers": {"a": {"command": "b", "args": [null]}}}', "hold text"),
        (None, "give the path of an mcp.json"),
        ("{", "is no JSON"),
        ("{}", "names no servers"),
        ('{"mcpServers": {"a": {}}}', "has neither"),
        ('{"mcpServers": {"a": {"url": "x", "headers": ["b"]}}}', "are objects"),
    ],
)
def test_a_file_that_cannot_be_used_is_an_error_that_says_what_to_write(
    tmp_path: Path, text: str | None, words: str
) -> None:
    path = tmp_path / "mcp.json"
    if text is not None:
        path.write_text(text)
    command = [sys.executable, "-m", "terminal", str(path)]
    where = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    folder = ROOT / "examples" / "terminal"
    run = subprocess.run(command, cwd=folder, env=where, capture_output=True, text=True, timeout=60, check=False)
    assert (run.returncode, run.stdout) == (2, "")
    assert words in run.stderr
    assert "Traceback" not in run.stderr


def test_what_a_file_names_by_a_relative_path_is_beside_it_wherever_the_client_and_the_server_are(
    tmp_path: Path,
) -> None:
    beside, elsewhere = tmp_path / "beside", tmp_path / "beside" / "elsewhere"
    elsewhere.mkdir(parents=True)
    (beside / "server").write_text(f'#!/bin/sh\npwd > cwd\nexec "{SERVER[0]}" "{SERVER[1]}"\n')
    (beside / "server").chmod(0o755)
    path = beside / "mcp.json"
    path.write_text(json.dumps({"mcpServers": {"ide": {"command": "./server", "cwd": "elsewhere"}}}))
    with terminal(Path(os.path.relpath(path, ROOT / "examples" / "terminal"))) as screen:
        assert "✓ ide: 2 tools" in screen.until(PROMPT)
        assert (elsewhere / "cwd").read_text() == f"{elsewhere}\n"


def configured(folder: Path, servers: dict[str, Any]) -> Path:
    """An mcp.json of these servers."""
    path = folder / "mcp.json"
    path.write_text(json.dumps({"mcpServers": servers}))
    return path


def test_a_server_that_does_not_speak_as_the_client_does_is_named_and_the_rest_go_on(tmp_path: Path) -> None:
    servers = {
        "old": {"type": "sse", "url": "http://127.0.0.1:9/sse"},
        "ide": {"command": SERVER[0], "args": SERVER[1:]},
    }
    with terminal(configured(tmp_path, servers)) as screen:
        shown = screen.until(PROMPT)
        assert 'old cannot be reached: it is of the type "sse", and this client speaks streamable HTTP' in shown
        assert "✓ ide: 2 tools" in shown


def test_a_server_that_cannot_be_started_is_named_and_the_rest_go_on(tmp_path: Path) -> None:
    servers = {"gone": {"command": "/no/such/server"}, "ide": {"command": SERVER[0], "args": SERVER[1:]}}
    with terminal(configured(tmp_path, servers)) as screen:
        shown = screen.until(PROMPT)
        assert "✗ gone cannot be reached: " in shown
        assert "✓ ide: 2 tools" in shown
