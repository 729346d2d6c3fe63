"""COUNT(DISTINCT a, b) as that of one text, which no other values of the two have.

COUNT(DISTINCT a, b)  ->  COUNT(DISTINCT CONCAT(LENGTH(CAST(a AS STRING)), ':', CAST(a AS STRING), CAST(b AS STRING)))

The text is NULL where one of the values is, and of such rows none counts.
"""

from __future__ import annotations

from sqlglot import exp

from streambound.analyzer.algebra.row_expressions import type_of
from streambound.analyzer.algebra.schema_columns import Schema
from streambound.analyzer.types import Family

_OTHER_TEXTS = (Family.FLOAT, Family.OTHER)
"""Types of which equal values may have several texts, as 0.0 and -0.0, or that have none."""


def with_one_argument(call: exp.Expr, given: Schema) -> exp.Expr:
    """A call whose COUNT has one distinct argument, where it had several; it is changed."""
    for count in call.find_all(exp.Count):
        distinct = count.this
        values = distinct.expressions if isinstance(distinct, exp.Distinct) else []
        kinds = [type_of(one, given)[0] for one in values]
        if len(values) > 1 and all(kind is not None and kind.family not in _OTHER_TEXTS for kind in kinds):
            distinct.set("expressions", [_text(values)])
    return call


def _text(values: list[exp.Expr]) -> exp.Expr:
    texts = [exp.cast(one.copy(), "string", dialect="spark") for one in values]
    parts = list[exp.Expr]()
    for text in texts[:-1]:
        length = exp.cast(exp.Anonymous(this="LENGTH", expressions=[text]), "string", dialect="spark")
        parts += [length, exp.Literal.string(":"), text.copy()]
    return exp.Anonymous(this="CONCAT", expressions=[*parts, texts[-1]])
