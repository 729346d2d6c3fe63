"""``*`` where it stands for no list of columns: ``SUM(*)``, ``ON q.*``, ``COUNT(DISTINCT *)``."""

from __future__ import annotations

from sqlglot import exp

from streambound.analyzer.codes import Code
from streambound.analyzer.findings import Positions


def check_stars(statement: exp.Expr, positions: Positions) -> None:
    """Raise Finding for the first ``*`` that is neither an item of a select list nor all that COUNT is given.

    Spark puts all columns in the place of some others: ``SUM(*)`` is the sum of a query's only column.
    """
    for star in statement.find_all(exp.Star, bfs=False):
        node = star.parent if isinstance(star.parent, exp.Column) else star
        holder = node.parent
        counts = isinstance(holder, exp.Count) and node is star and not holder.args.get("expressions")
        if counts or (isinstance(holder, exp.Select) and node.arg_key == "expressions"):
            continue
        message = f"{node.sql('spark')} is outside the query language here"
        help = "name the columns that are meant; only COUNT(*) is of whole rows"
        raise positions.finding(Code.UNSUPPORTED, message, node, help)
