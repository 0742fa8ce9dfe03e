"""The engine as its users hold it: a schema in, fits out."""

from collections.abc import Iterable
from typing import Any

from argfit.core.engine import compile_engine
from argfit.core.fit import Fit, fit_text, fit_value
from argfit.core.plan import Plan

Schema = dict[str, Any] | bool


class Fitter:
    """Makes arguments fit one tool's `inputSchema`, or says what does not.

    `schema` is JSON Schema, 2020-12 unless `$schema` names a draft it knows; `repairs` names repairs to make
    (`"all"` of them, none by default) or the exact rule `plain-number`; `formats` names formats that count (none by
    default: they describe); `strip` names undeclared top-level arguments to leave out. Safe to share
    between threads. Raises SchemaError where the schema is neither an object nor a boolean, ValueError where a
    name is unknown.
    """

    __slots__ = ("_engine",)

    def __init__(
        self,
        schema: Schema,
        *,
        repairs: Iterable[str] = (),
        formats: Iterable[str] = (),
        strip: Iterable[str] = (),
    ) -> None:
        self._engine = compile_engine(schema, strip, repairs, formats)

    @property
    def plan(self) -> Plan:
        """The compiled schema: frozen data that prints and compares."""
        return self._engine.plan

    def fit(self, arguments: Any) -> Fit:
        """Fit arguments given as a JSON value; None means none were sent, and gives `{}`.

        Never raises for a JSON value and never alters it: what needs no change comes back as the same object.
        """
        return fit_value(self._engine, arguments)

    def fit_json(self, text: bytes | str) -> Fit:
        """Fit arguments given as JSON text; `fit.json` is the text with only the changed spans replaced.

        Text with doubled keys is not judged and stays as it came; text that is not JSON is a problem.
        """
        return fit_text(self._engine, text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text)

    def __repr__(self) -> str:
        return f"Fitter({self.plan!r})"
