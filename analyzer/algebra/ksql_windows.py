"""ksqlDB's clause after FROM that groups by windows of time, too: `foreign_forms` makes a LATERAL VIEW of it.

FROM S WINDOW TUMBLING (SIZE 1 HOUR) GROUP BY k        ->  FROM S GROUP BY k, window(S.ts, '1 HOUR')
FROM S WINDOW HOPPING (SIZE 1 HOUR, ADVANCE BY 5 MINUTES)                ->  window(S.ts, '1 HOUR', '5 MINUTES')
FROM S WINDOW SESSION (30 MINUTES)                               ->  session_window(S.ts, '30 MINUTES')

WINDOWSTART and WINDOWEND are its ends, in milliseconds where the time is a timestamp.
"""

from __future__ import annotations

from sqlglot import exp

from streambound.analyzer.algebra.schema_columns import Schema
from streambound.analyzer.codes import Code
from streambound.analyzer.findings import Positions
from streambound.analyzer.foreign_forms import KSQL_WINDOWS
from streambound.analyzer.types import Family

_ENDS = {"windowstart": "start", "windowend": "end"}


def ksql_window(node: exp.Select) -> exp.Expr | None:
    """The clause of a SELECT; None where it has none."""
    calls = (lateral.this for lateral in node.args.get("laterals") or [])
    return next((call for call in calls if isinstance(call, exp.Anonymous) and call.name in KSQL_WINDOWS), None)


def with_window_as_key(written: exp.Select, given: Schema, positions: Positions) -> exp.Select:
    """The SELECT over rows of these columns with its window as one more key; raises Finding."""
    call = ksql_window(written)
    assert call is not None, "there is one"
    time = next((column for column in given if column.time), None)
    if time is None or not written.args.get("group"):
        what = "is of rows of a stream" if time is None else "stands before GROUP BY"
        raise positions.finding(Code.UNSUPPORTED, f"a WINDOW clause {what}", call, "write GROUP BY, with it or without")
    node = written.copy()
    node.parent = written.parent
    node.set("laterals", [one for one in node.args["laterals"] if one.this.name not in KSQL_WINDOWS] or None)
    column = exp.column(time.name, time.alias or None, quoted=True)
    named = "session_window" if call.name == KSQL_WINDOWS[-1] else "window"
    window = exp.Anonymous(this=named, expressions=[column, *(one.copy() for one in call.expressions)])
    for clause in (*node.expressions, *filter(None, [node.args.get("having")])):
        for one in [one for one in clause.find_all(exp.Column) if one.name.lower() in _ENDS and not one.table]:
            end: exp.Expr = exp.Dot(this=window.copy(), expression=exp.to_identifier(_ENDS[one.name.lower()]))
            if time.type is not None and time.type.family is Family.TIMESTAMP:
                end = exp.Anonymous(this="unix_millis", expressions=[end])
            listed = one.parent is node
            one.replace(exp.alias_(end, one.name, quoted=True) if listed else end)
    node.args["group"].append("expressions", window)
    return node
