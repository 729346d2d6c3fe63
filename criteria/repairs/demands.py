"""What asks for less: NOT EXISTS, a relation as of the row's time, a DISTINCT that nothing above tells from none.

S.a NOT IN (SELECT T.a …)   ->  NOT EXISTS (SELECT T.a … WHERE T.a = S.a): a NULL of T decides no other row
JOIN R                      ->  JOIN R FOR SYSTEM_TIME AS OF S.ts: later changes of R correct no earlier result
SELECT MAX(x.a) FROM (SELECT DISTINCT a, b FROM S) x  ->  SELECT MAX(x.a) FROM (SELECT a, b FROM S) x
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from streambound.analyzer.diagnostics import FixKind
from streambound.criteria.repairs.rejected import Change, Rejected
from streambound.criteria.repairs.scopes import SelectScope

UNSEEN, NOT_EXISTS, AS_OF = 2, 15, 10
_OF_SETS = (exp.Max, exp.Min, exp.LogicalAnd, exp.LogicalOr)
_JOINED_ONCE = ("limit", "offset", "qualify", "laterals", "pivots", "windows", "connect", "match")
"""Clauses whose results may depend on how often a row is there."""
_CLAUSES = ("group", "having", "limit", "offset", "joins")


def not_exists(rejected: Rejected) -> Iterator[Change]:
    """NOT EXISTS instead of NOT IN, where both sides are columns."""
    for scope in rejected.scopes:
        for negation in scope.select.find_all(exp.Not):
            member = negation.this.unnest()
            query = member.args.get("query") if isinstance(member, exp.In) else None
            select = query.unnest() if query is not None else None
            if not isinstance(select, exp.Select) or negation.find_ancestor(exp.Select) is not scope.select:
                continue
            value, column = _column(member.this, scope), select.expressions[0].unalias()
            if not value or len(select.expressions) != 1 or not isinstance(column, exp.Column):
                continue
            if any(select.args.get(name) for name in _CLAUSES):
                continue
            negated = rejected.layout.not_exists(negation, select)
            equal = rejected.layout.conditions([(select, f"{column.sql('spark')} = {value}")])
            note = f"a NULL of {value} or {column.sql('spark')} no longer hides rows"
            edits = (*negated, *equal) if negated and equal else ()
            yield Change("not exists", "ask NOT EXISTS instead of NOT IN", NOT_EXISTS, edits, note=note)


def _column(value: exp.Expr, scope: SelectScope) -> str:
    """A column with its alias, so that a subquery can name it; nothing where it is not sure to be one."""
    if not isinstance(value, exp.Column) or value.table:
        return str(value.sql("spark")) if isinstance(value, exp.Column) else ""
    owners = [item for item in scope.items if any(one.called(value.name) for one in item.view.schema)]
    return owners[0].written(value.name) if len(owners) == 1 else ""


def past_relations(rejected: Rejected) -> Iterator[Change]:
    """Each relation that changes, as of the time of a stream before it in the same FROM."""
    for scope in rejected.scopes:
        for number, item in enumerate(scope.items):
            tables = [one.table for one in item.view.sources.values()]
            changing = isinstance(item.node, exp.Table) and any(one and one.changes for one in tables)
            if not changing or item.node.args.get("version") or item.side not in ("", "LEFT"):
                continue
            for stream in scope.items[:number]:
                if stream.time is not None and isinstance(item.node, exp.Table):
                    edits = rejected.layout.as_of(item.node, stream.written_time)
                    title = f"read {item.alias} as of {stream.written_time}"
                    note = f"later changes of {item.node.name} no longer correct what was printed"
                    yield Change("as of", title, AS_OF, edits, note=note)


def unseen_duplicates(rejected: Rejected) -> Iterator[Change]:
    """Each DISTINCT and UNION of which nothing above tells whether rows are there once, or more often."""
    for query in rejected.syntax.find_all(exp.Select, exp.Union):
        assert isinstance(query, exp.Select | exp.Union)
        if query.args.get("distinct") and not _recursive(query) and not _told(query, rejected.syntax):
            title = "UNION ALL instead of UNION" if isinstance(query, exp.Union) else "leave out a DISTINCT"
            note = "nothing that reads these rows tells duplicates"
            yield Change("distinct", title, UNSEEN, rejected.layout.kept(query), note=note, effect=FixKind.SAFE)


def _recursive(query: exp.Expr) -> bool:
    named = query.find_ancestor(exp.With)
    return named is not None and bool(named.args.get("recursive"))


def _told(query: exp.Expr, tree: exp.Expr) -> bool:
    """Whether results may depend on how often each row of a query, or of what a FROM names, is there."""
    if any(query.args.get(name) for name in ("limit", "offset", "sample", "pivots")):
        return True
    match query.parent:
        case exp.Exists():
            return False
        case exp.In() if query.arg_key == "query":
            return False
        case exp.Subquery() as parent:
            return _told(parent, tree)
        case exp.Union() as parent:
            return not parent.args.get("distinct") and _told(parent, tree)
        case exp.Except() | exp.Intersect() as parent:
            return not parent.args.get("distinct")
        case exp.From(parent=exp.Select() as select):
            return _told_by(select, tree)
        case exp.Join(parent=exp.Select() as select) if query.arg_key == "this":
            return _told_by(select, tree)
        case exp.CTE() as named:
            ctes = [one for one in tree.find_all(exp.CTE) if one.alias.lower() == named.alias.lower()]
            reads = [one for one in tree.find_all(exp.Table) if one.name.lower() == named.alias.lower()]
            return len(ctes) > 1 or any(_told(one, tree) for one in reads)
    return True


def _told_by(select: exp.Select, tree: exp.Expr) -> bool:
    """Whether what a SELECT says depends on how often rows of its FROM are there."""
    if any(select.args.get(name) for name in _JOINED_ONCE) or any(j.method for j in select.args.get("joins") or ()):
        return True
    own = [*select.walk(prune=lambda node: isinstance(node, exp.Query) and node is not select)]
    calls = [node for node in own if isinstance(node, exp.AggFunc | exp.Window | exp.Anonymous)]
    if not all(isinstance(call, _OF_SETS) or isinstance(call.this, exp.Distinct) for call in calls):
        return True
    if calls or select.args.get("group"):
        return False
    return not select.args.get("distinct") and _told(select, tree)
