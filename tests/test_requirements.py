"""The pinned lists: one version of everything, every file by its hash, from no named place."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LISTS = ("run", "farm", "dev", "bench", "agents", "langchain", "adk", "interop", "mcp-proxy")

PIN = re.compile(r"^(?P<name>[\w.-]+)==(?P<version>[^ ;]+)(?: ; [^\\]+)? \\$", re.MULTILINE)


@pytest.mark.parametrize("name", LISTS)
def test_every_package_is_pinned_with_hashes_and_no_option_or_address_stands_beside(name: str) -> None:
    text = (ROOT / "requirements" / f"{name}.txt").read_text()
    assert unexpected(text) == []
    assert len(PIN.findall(text)) > 20


@pytest.mark.parametrize(
    "line",
    [
        "six==1.17.0",
        "six>=1 \\",
        "six @ https://example.org/six.whl",
        "--index-url https://example.org",
        "    --hash=md5:00",
    ],
)
def test_a_line_that_is_neither_pin_nor_hash_is_named(line: str) -> None:
    assert unexpected(f"# a comment\nsix==1.17.0 \\\n    --hash=sha256:{'0' * 64}\n{line}\n") == [line]


def test_a_pin_without_a_hash_is_named() -> None:
    assert unexpected("six==1.17.0 \\\nmcp==2.3.0 \\\n    --hash=sha256:" + "0" * 64) == ["six==1.17.0 \\"]


@pytest.mark.parametrize("name", ["dev", "bench"])
def test_the_lists_agree_on_versions_and_hold_all_that_run_needs(name: str) -> None:
    run, other = pins("run"), pins(name)
    assert {package: other.get(package) for package in run} == run


def test_the_checkers_and_the_bench_agree_where_they_share_a_package() -> None:
    dev, bench = pins("dev"), pins("bench")
    assert {package for package in dev.keys() & bench if dev[package] != bench[package]} == set()


@pytest.mark.parametrize("name", LISTS)
def test_what_argfit_itself_depends_on_is_pinned(name: str) -> None:
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    assert {re.split(r"[^\w-]", requirement)[0] for requirement in wanted} <= pins(name).keys()


def pins(name: str) -> dict[str, set[str]]:
    """Read a list as package -> versions: where platforms differ there may be more than one."""
    found: dict[str, set[str]] = {}
    for pin in PIN.finditer((ROOT / "requirements" / f"{name}.txt").read_text()):
        found.setdefault(pin["name"], set()).add(pin["version"])
    return found


def unexpected(text: str) -> list[str]:
    """Find the lines that are no comment, no pin that a hash follows, and no hash."""
    lines = [line for line in text.splitlines() if line and not line.lstrip().startswith("#")]
    hashed = re.compile(r"    --hash=sha256:[0-9a-f]{64}(?: \\)?")
    return [
        line
        for line, following in zip(lines, [*lines[1:], ""], strict=True)
        if not hashed.fullmatch(line) and not (PIN.match(line) and hashed.fullmatch(following))
    ]
