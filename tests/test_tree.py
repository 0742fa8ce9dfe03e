"""What no file of the tree may be called or hold, whatever its kind."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# Names that say nothing about what is inside, and so end up holding anything.
EMPTY_NAMES = {"base", "common", "helper", "helpers", "manager", "misc", "util", "utils"}

# Hidden folders are caches and environments, but for these.
OURS = {".ci", ".github"}

# The brackets keep the patterns from finding themselves.
REFUSED = {
    "work left for later": re.compile(r"\b(?:TOD[O]|FIXM[E]|XX[X]|HAC[K])\b"),
    "a package registry's host": re.compile(r"(?:pypi|pythonhosted|npmjs|debian)[.](?:org|com)\b"),
    "a path of one machine": re.compile(r"(?<![\w.:/~-])/(?:home|opt|root|tmp|Users|work)/\w"),
}


def test_no_file_or_folder_has_a_name_that_says_nothing() -> None:
    found = [path.relative_to(ROOT) for path in tree(ROOT)]
    assert Path("src/argfit/__init__.py") in found
    assert [str(path) for path in found if says_nothing(path)] == []


def test_no_file_holds_work_left_for_later_or_a_host_or_path_of_one_place() -> None:
    assert [f"{path}:{complaint}" for path in tree(ROOT) for complaint in refused(text_of(path))] == []


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("fine\n# TO_DO: later", "2: work left for later"),
        ("# FIX_ME", "1: work left for later"),
        ("XX_X", "1: work left for later"),
        ("HA_CK", "1: work left for later"),
        ("--index-url https://py_pi.org/simple", "1: a package registry's host"),
        ("https://files.python_hosted.org/x", "1: a package registry's host"),
        ("registry.np_mjs.org", "1: a package registry's host"),
        ("deb.deb_ian.org", "1: a package registry's host"),
        ("cd /_home/someone/argfit", "1: a path of one machine"),
        ('"/_tmp/lab"', "1: a path of one machine"),
    ],
)
def test_what_is_refused_is_named_with_its_line(text: str, complaint: str) -> None:
    assert list(refused(text.replace("_", ""))) == [complaint]


@pytest.mark.parametrize("text", ["a todo list", "src/home/x.py", "https://example.org/home", "/usr/bin/env"])
def test_what_only_looks_alike_passes(text: str) -> None:
    assert list(refused(text)) == []


@pytest.mark.parametrize(
    ("path", "empty"),
    [
        ("src/argfit/utils.py", True),
        ("src/argfit/core/_helpers.py", True),
        ("tests/common/test_x.py", True),
        ("src/argfit/base64.py", False),
        ("docs/common.md", True),
    ],
)
def test_a_name_is_judged_by_its_whole_stem(path: str, empty: bool) -> None:
    assert says_nothing(Path(path)) is empty


def test_caches_and_environments_are_not_searched(tmp_path: Path) -> None:
    for name in (
        ".venv/lib/a.py",
        ".ci/run",
        "venv/pyvenv.cfg",
        "venv/b.py",
        "build/c.py",
        "node_modules/e.js",
        "src/d.py",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert [str(path.relative_to(tmp_path)) for path in tree(tmp_path)] == [".ci/run", "src/d.py"]


def tree(folder: Path) -> Iterator[Path]:
    """Walk the files that are the project's own."""
    for path in sorted(folder.iterdir()):
        if not path.is_dir():
            yield path
        elif not left_out(path):
            yield from tree(path)


def left_out(folder: Path) -> bool:
    hidden = folder.name.startswith(".") and folder.name not in OURS
    built = folder.name in {"__pycache__", "build", "dist", "node_modules"} or folder.suffix == ".egg-info"
    return hidden or built or (folder / "pyvenv.cfg").exists()


def says_nothing(path: Path) -> bool:
    return any(part.partition(".")[0].strip("_").lower() in EMPTY_NAMES for part in path.parts)


def text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def refused(text: str) -> Iterator[str]:
    for number, line in enumerate(text.splitlines(), 1):
        for what, pattern in REFUSED.items():
            if pattern.search(line):
                yield f"{number}: {what}"
