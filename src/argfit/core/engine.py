"""A compiled schema, with all that fitting arguments to it takes."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import msgspec

from argfit.core.check import Walk
from argfit.core.choices import PLAIN_NUMBER, formats_named, repairs_named
from argfit.core.judge import Judge, too_deep
from argfit.core.place import At, Types
from argfit.core.plan import Plan, compile_plan, declares, is_recursive
from argfit.core.quick import Watch
from argfit.core.schema import read
from argfit.core.shape import Shapes
from argfit.core.spelling import Change, changes
from argfit.core.sure import Sure, sure
from argfit.core.watch import watch


class Engine(msgspec.Struct, frozen=True, dict=True):
    """A compiled schema: the plan, its judge, its quick way, and the names an operator wants left out.

    The quick way is made when the first call comes: most tools of a long list never get one.
    """

    plan: Plan
    judge: Judge
    shapes: Shapes
    types: Types
    types_for_spelling: Types  # a float that is about to be written as an integer counts as one in draft 4 too
    recursive: bool
    strip: frozenset[str]
    repairs: frozenset[str]
    plain: bool  # plain-number is on

    @cached_property
    def watch(self) -> Watch | None:
        """The quick way; None where no spelling is asked for anywhere."""
        return watch(self.plan, self.types_for_spelling, plain=self.plain)

    def is_quiet(self, arguments: Any) -> bool:
        """Whether arguments are an object of which certainly nothing is to be spelled otherwise or left out."""
        if type(arguments) is not dict or (self.recursive and too_deep(arguments)):
            return False
        if self.strip and not self.strip.isdisjoint(arguments):
            return False
        watch = self.watch
        return watch is None or watch.quiet(arguments)

    @cached_property
    def sure(self) -> Sure | None:
        """The shortest way; None where it would never be sure."""
        return None if self.strip else sure(self.plan, plain=self.plain)

    def is_sure(self, arguments: Any) -> bool:
        """Whether arguments are certainly right, by the shortest way."""
        sure = self.sure
        return sure is not None and sure(arguments)

    def is_right(self, arguments: Any) -> bool:
        """Whether arguments are valid, and certainly nothing of them is to be spelled otherwise or left out."""
        return self.is_sure(arguments) or (self.is_quiet(arguments) and self.judge.accepts(arguments))

    def walk(self) -> Walk:
        """A fresh look: what was found of one value says nothing of another."""
        return Walk(self.shapes, self.types)

    def respellings(self, value: Any, at: At = ("#",)) -> list[Change]:
        """The exact changes that a value wants at a place."""
        return changes(Walk(self.shapes, self.types_for_spelling), value, at, plain=self.plain)


def compile_engine(
    schema: Any, strip: Iterable[str] = (), repairs: Iterable[str] = (), formats: Iterable[str] = ()
) -> Engine:
    """Compile a schema; SchemaError where it is neither an object nor a boolean.

    `strip` names arguments to leave out; those the schema declares stay. `repairs` names repairs to make (and
    `plain-number`), `formats` those that count.
    """
    chosen = repairs_named(repairs)
    plain = PLAIN_NUMBER in chosen
    plan, source = compile_plan(read(schema, formats_named(formats)))
    judge = Judge(source)
    types = Types(plan, whole_floats=plan.dialect.whole_float_is_integer)
    for_spelling = types if plan.dialect.whole_float_is_integer else Types(plan, whole_floats=True)
    return Engine(
        plan=plan,
        judge=judge,
        shapes=Shapes(plan, judge),
        types=types,
        types_for_spelling=for_spelling,
        recursive=is_recursive(plan),
        strip=frozenset(name for name in strip if not declares(plan, name)),
        repairs=chosen - {PLAIN_NUMBER},
        plain=plain,
    )
