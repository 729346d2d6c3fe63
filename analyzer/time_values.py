"""Application times in the select list: ``S.ts + INTERVAL 5 MINUTES``, ``T.ts - S.ts``."""

from __future__ import annotations

from collections import Counter

from sqlglot import exp

from streambound.analyzer.codes import Code
from streambound.analyzer.findings import Finding, Positions
from streambound.analyzer.query import Attribute, TimeValue
from streambound.analyzer.terms import LinearTerm
from streambound.analyzer.types import Family

_HELP = "select the time itself, the time and a distance (ts + INTERVAL 5 MINUTES), or the difference of two times"


def time_value(term: LinearTerm, node: exp.Expr, positions: Positions) -> TimeValue:
    """The value of a term of application times; raises Finding for one that is no time and no difference of two."""
    plus, minus = Counter(term.plus), Counter(term.minus)
    more, less = (list((one - other).elements()) for one, other in ((plus, minus), (minus, plus)))
    whole = term.kind.family in (Family.INTEGER, Family.TIMESTAMP, Family.OTHER)
    if len(more) != 1 or len(less) > 1 or not whole or term.constant.exact.denominator != 1:
        raise _refused(more, less, node, positions)
    return TimeValue(more[0], less[0] if less else None, int(term.constant.exact), term.kind)


def _refused(more: list[Attribute], less: list[Attribute], node: exp.Expr, positions: Positions) -> Finding:
    what = "this is neither a time nor the difference of two"
    if not more and not less:
        what = "a time less itself is a constant"
    elif not more:
        what = "here one is only subtracted"
    message = f"the select list takes application times, and {what}"
    return positions.finding(Code.PROJECTED_TIMESTAMP, message, node, _HELP)
