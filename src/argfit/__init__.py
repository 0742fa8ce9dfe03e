"""argfit makes the arguments of MCP tool calls fit the tool's schema, or names the one that does not."""

from importlib import import_module

TYPE_CHECKING = False  # as type checkers read it; `typing` itself would be a third of this package's start
if TYPE_CHECKING:
    from argfit.catalog import ToolCatalog
    from argfit.core.fit import Fit
    from argfit.core.fitter import Fitter
    from argfit.core.problem import Problem
    from argfit.core.source import SchemaError
    from argfit.core.spelling import Change

__all__ = ["Change", "Fit", "Fitter", "Problem", "SchemaError", "ToolCatalog"]

# Looked up when first used (PEP 562): `argfit proxy` starts its server before it loads the engine.
_HOMES = {
    "Change": "argfit.core.spelling",
    "Fit": "argfit.core.fit",
    "Fitter": "argfit.core.fitter",
    "Problem": "argfit.core.problem",
    "SchemaError": "argfit.core.source",
    "ToolCatalog": "argfit.catalog",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
