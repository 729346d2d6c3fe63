"""A recursive query as a base and a step, and relations that read each other as one that says whose a row is.

WITH RECURSIVE odd(x, y) AS (SELECT a, b FROM e UNION SELECT even.x, e.b FROM even JOIN e ON e.a = even.y),
  even(x, y) AS (SELECT odd.x, e.b FROM odd JOIN e ON e.a = odd.y) …
->  WITH RECURSIVE odd_even(_of, x, y) AS (SELECT 0, a, b FROM e
      UNION SELECT 0, even.x, e.b FROM (SELECT x, y FROM odd_even WHERE _of = 1) AS even JOIN e ON e.a = even.y
      UNION SELECT 1, odd.x, e.b FROM (SELECT x, y FROM odd_even WHERE _of = 0) AS odd JOIN e ON e.a = odd.y),
    odd(x, y) AS (SELECT x, y FROM odd_even WHERE _of = 0), even(x, y) AS (SELECT x, y FROM odd_even WHERE _of = 1) …
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce

from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra.nodes import Alias, Distinct, Filter, Project, Tree, Union


class NotOneRelationError(Exception):
    """Why relations that read each other are not one, in words; and what does, to show it."""

    def __init__(self, node: exp.Expr, words: str, help: str) -> None:
        super().__init__(words)
        self.node, self.words, self.help = node, words, help


def reads(node: exp.Expr, name: str) -> bool:
    """Whether a query reads a table of that name."""
    return any(table.name.lower() == name.lower() for table in node.find_all(exp.Table))


def united(query: exp.Expr) -> list[exp.Expr]:
    """The queries whose rows together, each once, are the query's."""
    inner = query.unnest()
    if not isinstance(inner, exp.Union) or not inner.args.get("distinct") or inner.args.get("with_"):
        return [inner]
    return [*united(inner.this), *united(inner.expression)]


def base_and_step(query: exp.Expr, name: str) -> exp.Expr:
    """A query that reads its own rows, as the union of what it starts with and of all steps."""
    parts = united(query)
    base, steps = [one for one in parts if not reads(one, name)], [one for one in parts if reads(one, name)]
    if not (base and steps) or len(parts) == 2:
        return query
    made = _union(reduce(_union, base), reduce(lambda one, other: exp.Union(this=one, expression=other), steps))
    made.parent = query.parent
    return made


def as_set(tree: Tree) -> Tree:
    """A query of which each row counts once, without the DISTINCT that says so of its parts."""
    match tree:
        case Distinct(input):
            return as_set(input)
        case Union(left, right):
            return replace(tree, left=as_set(left), right=as_set(right), distinct=False)
        case Project(input) | Alias(input) | Filter(input):
            return replace(tree, input=as_set(input))
    return tree


def with_one_relation(clause: exp.With, fresh: Callable[[str], str]) -> exp.With:
    """A WITH RECURSIVE in which no two relations read each other; ``fresh`` gives names that nothing has.

    Raises NotOneRelationError where they cannot be one.
    """
    names = _reading_each_other(clause)
    if not names:
        return clause
    made = clause.copy()
    made.parent = clause.parent
    views = [one for one in made.expressions if one.alias.lower() in names]
    relation = _OneRelation(views, fresh)
    whole = relation.whole()
    needed = _reached(_bodies(made), names)
    before = [one for one in made.expressions if one.alias.lower() in needed - names]
    after = [one for one in made.expressions if one.alias.lower() not in needed]
    for view in views:
        view.set("this", relation.rows_of(view))
    made.set("expressions", [*before, whole, *views, *after])
    return with_one_relation(made, fresh)


class _OneRelation:
    """The relation that has the rows of several, and in its first column the number of the one that a row is of."""

    def __init__(self, views: Sequence[exp.CTE], fresh: Callable[[str], str]) -> None:
        self.views = {view.alias.lower(): view for view in views}
        self.columns = {name: _columns(view) for name, view in self.views.items()}
        self.name, self.of = fresh("_".join(view.alias for view in views)), fresh("_of")
        first = views[0]
        for view in views:
            body = view.this.unnest()
            if isinstance(body, exp.Union) and not body.args.get("distinct"):
                words = "UNION ALL of relations that read each other, which need not end, is outside the query language"
                raise NotOneRelationError(body, words, "write UNION")
            widths = len(self.columns[first.alias.lower()]), len(self.columns[view.alias.lower()])
            if widths[0] != widths[1]:
                words = f"{first.alias} and {view.alias} read each other and have {widths[0]} and {widths[1]} columns"
                raise NotOneRelationError(view, words, "give both as many, of the same types: NULL for those it lacks")

    def whole(self) -> exp.CTE:
        """The relation: first the queries that read none of its rows."""
        named = [(number, query) for number, view in enumerate(self.views.values()) for query in united(view.this)]
        base = [one for one in named if not any(reads(one[1], name) for name in self.views)]
        if not base:
            view = next(iter(self.views.values()))
            raise NotOneRelationError(view, f"{view.alias} and what it reads start with no rows", "")
        steps = [self._numbered(*one) for one in named if one not in base]
        query = reduce(_union, list[exp.Expr]([*(self._numbered(*one) for one in base), *steps]))
        columns = [self.of, *next(iter(self.columns.values()))]
        alias = exp.TableAlias(this=exp.to_identifier(self.name), columns=[*map(exp.to_identifier, columns)])
        return exp.CTE(this=query, alias=alias)

    def rows_of(self, view: exp.CTE) -> exp.Select:
        """The rows of one relation."""
        name = view.alias.lower()
        of = exp.EQ(this=exp.column(self.of, self.name), expression=exp.Literal.number(list(self.views).index(name)))
        shown = zip(next(iter(self.columns.values())), self.columns[name], strict=True)
        items = [exp.alias_(exp.column(column, self.name), own) for column, own in shown]
        return exp.select(*items).from_(exp.Table(this=exp.to_identifier(self.name))).where(of)

    def _numbered(self, number: int, query: exp.Expr) -> exp.Select:
        made = query.copy()
        for table in [one for one in made.find_all(exp.Table) if not one.args.get("db")]:
            if (view := self.views.get(table.name.lower())) is not None:
                alias = table.args.get("alias") or exp.TableAlias(this=table.this.copy())
                table.replace(exp.Subquery(this=self.rows_of(view), alias=alias))
        star = exp.Column(this=exp.Star(), table=exp.to_identifier("rows"))
        number_of = exp.alias_(exp.Literal.number(number), self.of)
        return exp.select(number_of, star).from_(
            exp.Subquery(this=made, alias=exp.TableAlias(this=exp.to_identifier("rows")))
        )


def _union(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return exp.Union(this=left, expression=right, distinct=True)


def _columns(view: exp.CTE) -> tuple[str, ...]:
    """The names of a relation's columns."""
    named = view.args["alias"].args.get("columns") or []
    names = [one.name for one in named] or view.this.unnest().named_selects
    if "*" in names or not all(names):
        raise NotOneRelationError(
            view, f"{view.alias} reads what reads it, and has no names of columns", f"write {view.alias}(a, b) AS …"
        )
    return tuple(names)


def _bodies(clause: exp.With) -> dict[str, exp.CTE]:
    return {view.alias.lower(): view for view in clause.expressions}


def _reading_each_other(clause: exp.With) -> set[str]:
    """The names of the first relations of a WITH that read each other."""
    bodies = _bodies(clause) if clause.args.get("recursive") else {}
    reached = {name: _reached(bodies, [name]) for name in bodies}
    for name in bodies:
        found = {other for other in reached[name] if other != name and name in reached[other]}
        if found:
            return {name, *found}
    return set()


def _reached(bodies: Mapping[str, exp.CTE], start: Iterable[str]) -> set[str]:
    """The relations of a WITH that some of them read, directly or through others."""
    found, todo = set[str](), list(start)
    while todo:
        body = bodies[todo.pop()].this
        names = {table.name.lower() for table in body.find_all(exp.Table)} & bodies.keys() - found
        found |= names
        todo += names
    return found
