"""Numbers that are compared with a view's DOUBLE or DECIMAL: Spark casts them, and the cast is a column of their side.

``S.v > (SELECT AVG(T.v) FROM T)`` compares ``CAST(S.v AS DOUBLE)``, so that rows of
``SELECT *, CAST(v AS DOUBLE) FROM S`` wait.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from streambound.analyzer.algebra.nodes import Alias, Join, Named, Project
from streambound.analyzer.algebra.schema import parsed, schema
from streambound.analyzer.algebra.schema_columns import Schema, ViewColumn
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.types import DataType, Family
from streambound.recheck.circuits.trees import scalar

_COMPARISONS = (exp.EQ, exp.LT, exp.LTE, exp.GT, exp.GTE)


def with_casts(join: Join, catalog: Catalog) -> Join:
    """A join, where its left side has one alias, that compares its left columns as they are cast."""
    given, theirs = schema(join.left, catalog), schema(join.right, catalog)
    aliases = {one.alias for one in given}
    if join.condition is None or len(aliases) != 1 or not all(aliases):
        return join
    (alias,) = aliases
    condition, made = parsed(join.condition).copy(), list[exp.Cast]()
    for comparison in condition.find_all(*_COMPARISONS):
        for number, other in ((comparison.left, comparison.right), (comparison.right, comparison.left)):
            to = _type_in(other, theirs)
            if to is None or not _is_cast_to(to, _type_in(number, given)):
                continue
            cast = exp.cast(number.copy(), to.name)
            if cast not in made:
                made.append(cast)
            number.replace(exp.column(f"_cast{made.index(cast) + 1}", table=alias))
    if not made:
        return join
    own = [Named(one.name, scalar(exp.column(one.name, table=alias, quoted=True)), alias=True) for one in given]
    casts = [Named(f"_cast{number}", scalar(cast), alias=True) for number, cast in enumerate(made, 1)]
    syntax = join.left.syntax
    left = Alias(Project(join.left, (*own, *casts), syntax=syntax), alias, syntax=syntax)
    return replace(join, left=left, condition=scalar(condition))


def _type_in(node: exp.Expr, given: Schema) -> DataType | None:
    """The type of a column of a side; None for what is none of it."""
    if not isinstance(node, exp.Column):
        return None
    found: ViewColumn | None = next((one for one in given if one.called(node.name, node.table)), None)
    return None if found is None else found.type


def _is_cast_to(to: DataType, number: DataType | None) -> bool:
    """Whether Spark compares a number with one of another type by casting it to that, which every value of it has."""
    if number is None:
        return False
    if number.family is Family.INTEGER:
        return to.family is Family.FLOAT
    if {number.family, to.family} != {Family.DECIMAL} or number == to:
        return False
    digits, places = to.precision or 0, to.scale or 0
    whole = (number.precision or 0) - (number.scale or 0)
    return places >= (number.scale or 0) and digits - places >= whole
