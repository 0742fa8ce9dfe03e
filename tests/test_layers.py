"""The tree is the architecture: which part may import which, and what starting up may load.

Rules
- Imports go one way: cli -> proxy -> wire -> core. Adapters and the view stand beside the proxy: none of the
  three knows another. A client's catalog stands on the core and the log. A part that is not in the table below does not
  exist.
- core and wire are pure; the modules they may not use are in pyproject.toml, each with its reason.
- An import stands at the top of its file, so that the direction can be seen; the exceptions are listed here.
"""

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import argfit

ROOT = Path(__file__).resolve().parent.parent
SRC = ROOT / "src"

# What each part may import beside itself. "argfit" is the root, argfit/__init__.py: the public names.
LAYERS = {
    "core": set[str](),
    "wire": {"core"},
    "log": {"core"},
    "catalog": {"core", "log"},
    "dispatch": {"core", "log", "catalog"},
    "struct": {"core"},
    "argfit": {"core", "catalog"},
    "proxy": {"core", "wire"},
    "adapters": {"core", "wire", "log", "catalog", "dispatch", "argfit"},
    "view": {"core", "wire"},
    "cli": {"core", "wire", "argfit", "proxy", "adapters", "view"},
}
PURE = {"core", "wire"}
LINT = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["ruff"]["lint"]
BANNED = LINT["flake8-tidy-imports"]["banned-api"]

# Where a function may import, and why.
LOCAL_IMPORTS = {
    "argfit.cli": "start-up cost: each command loads only what it needs, `proxy` starts once per server",
    "argfit.core.validator": "start-up cost: the judge is loaded with the first schema, after the first answer",
}

# What `import argfit` and the start of the command line leave unloaded: an event loop, an SDK, pydantic.
HEAVY = {"asyncio", "anyio", "pydantic", "mcp", "fastmcp"}

ROOT_NAMES = 12

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def test_no_module_imports_against_the_direction_of_its_layer() -> None:
    modules = {name_of(path): path.read_text() for path in sorted(SRC.rglob("*.py"))}
    assert "argfit" in modules
    assert [wrong for name, source in modules.items() for wrong in misplaced_imports(name, source)] == []


@pytest.mark.parametrize(
    ("module", "source", "complaint"),
    [
        ("argfit.core.plan", "from argfit.wire.spans import find", "core may not import argfit.wire.spans"),
        ("argfit.core.plan", "from argfit import Fitter", "core may not import argfit"),
        ("argfit.core.plan", "from argfit import wire", "core may not import argfit.wire"),
        ("argfit.wire.session", "import argfit.proxy.stdio", "wire may not import argfit.proxy.stdio"),
        ("argfit.proxy.stdio", "from argfit.cli.main import main", "proxy may not import argfit.cli.main"),
        ("argfit.proxy.stdio", "from argfit.view.page import PAGE", "proxy may not import argfit.view.page"),
        ("argfit.adapters.mcp", "import argfit.proxy.stdio", "adapters may not import argfit.proxy.stdio"),
        ("argfit", "from argfit.wire.spans import find", "argfit may not import argfit.wire.spans"),
        ("argfit.cli.fit", "from . import main", "relative import, write the full name"),
        ("argfit.attic.old", "", "attic is not a layer"),
        ("argfit.attic", "", "attic is not a layer"),
        ("argfit.cli.fit", "from argfit.attic import old", "attic is not a layer"),
        ("argfit.core.plan", "import time", "core may not import time"),
        ("argfit.wire.session", "from logging import getLogger", "wire may not import logging"),
        ("argfit.wire.session", "def f():\n    import os.path", "wire may not import os.path"),
        ("argfit.wire.session", "def f():\n    import json", "imports inside a function"),
        ("argfit.proxy.stdio", "class A:\n  def f(self):\n    import json", "imports inside a function"),
    ],
)
def test_an_import_against_the_rules_is_named(module: str, source: str, complaint: str) -> None:
    assert complaint in "\n".join(misplaced_imports(module, source))


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("argfit.core.plan", "import json\nfrom argfit.core.schema import Schema"),
        ("argfit.wire.session", "from argfit.core import plan"),
        ("argfit.proxy.stdio", "import asyncio, os, sys\nfrom argfit.wire.session import Session"),
        ("argfit.cli.main", "def main():\n    from argfit.proxy.stdio import run"),
        ("argfit.__main__", "from argfit.cli.main import main"),
        ("argfit", "from argfit.core.fitter import Fitter"),
    ],
)
def test_an_import_along_the_rules_passes(module: str, source: str) -> None:
    assert list(misplaced_imports(module, source)) == []


@pytest.mark.parametrize("module", ["argfit", "argfit.cli.main"])
def test_starting_up_loads_no_event_loop_and_no_sdk(module: str) -> None:
    assert HEAVY & loaded_by(module) == set()


def test_what_a_module_loads_is_seen() -> None:
    assert loaded_by("asyncio") >= {"asyncio"}


def test_the_root_offers_few_names() -> None:
    assert 0 < len(argfit.__all__) <= ROOT_NAMES


def name_of(path: Path) -> str:
    parts = path.relative_to(SRC).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def layer_of(module: str) -> str:
    """Name the part of the house a module is in: `argfit.core.plan` is in `core`."""
    parts = module.split(".")
    if parts[1:] == ["__main__"]:
        return "cli"
    return parts[1] if len(parts) > 1 else "argfit"


def misplaced_imports(module: str, source: str) -> Iterator[str]:
    """Say of each import that breaks a rule where it stands and which rule it is."""
    here = layer_of(module)
    if here not in LAYERS:
        yield f"{module}: {here} is not a layer; tests/test_layers.py lists them"
        return
    tree = ast.parse(source)
    for line, imported in imports(tree):
        reason = objection(here, imported)
        if reason:
            yield f"{module}:{line}: {reason}"
    if not any(f"{module}.".startswith(f"{allowed}.") for allowed in LOCAL_IMPORTS):
        functions = (node for node in ast.walk(tree) if isinstance(node, FUNCTIONS))
        for line in sorted({line for function in functions for line, _ in imports(function)}):
            yield f"{module}:{line}: imports inside a function"


def objection(here: str, imported: str) -> str | None:
    """Say why a layer may not import a module; None if it may."""
    if imported.startswith("."):
        return "relative import, write the full name"
    top = imported.partition(".")[0]
    if top != "argfit":
        return f"{here} may not import {imported}" if here in PURE and top in BANNED else None
    there = layer_of(imported)
    if there not in LAYERS:
        return f"{there} is not a layer; tests/test_layers.py lists them"
    return None if there == here or there in LAYERS[here] else f"{here} may not import {imported}"


def imports(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Find all imports with their lines, as the full name of the module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            source = "." * node.level + (node.module or "")
            if source == "argfit":  # from argfit import core: the module is argfit.core
                parts = [f"argfit.{alias.name}" if alias.name in LAYERS else source for alias in node.names]
                yield from ((node.lineno, part) for part in parts)
            else:
                yield node.lineno, source


def loaded_by(module: str) -> set[str]:
    """Import a module in a fresh interpreter and tell which top-level modules are there afterwards."""
    command = [sys.executable, "-I", "-c", f"import sys, {module}; print(*sys.modules)"]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=60)
    return {name.partition(".")[0] for name in done.stdout.split()}
