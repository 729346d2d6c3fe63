"""Mode `upsert`: the columns of a result that no two rows agree in, by which rows are replaced."""

from __future__ import annotations

from collections.abc import Iterator

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.names_apart import with_names_apart
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.codes import Code
from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.lower import Lowered, lower
from streambound.analyzer.statement import Statement
from streambound.criteria.dataflow.view import OperatorView
from streambound.criteria.dataflow.views import Views, statement_views

_NO_KEY = "emit upsert is outside the query language here: no columns are known in which no two results agree"
_HELP = "group by the key, or take one row of it, ROW_NUMBER() OVER (PARTITION BY …) = 1; or print changes"


def result_key(statement: Statement, catalog: Catalog) -> tuple[int, ...]:
    """The key of a statement's result, as places in its select list; empty where none is known."""
    view = _view(lower(statement, catalog), catalog)
    return () if view is None else _chosen(view)


def without_key(statement: Statement, lowered: Lowered, catalog: Catalog) -> Diagnostic | None:
    """Why a statement with `emit upsert` has no key; None if it has one."""
    view = _view(lowered, catalog)
    if not statement.upserts or statement.emit is None or view is None or _chosen(view):
        return None
    help, hidden = _HELP, next(_hidden(view.tree, statement_views(catalog)), None)
    if frozenset() in view.keys:
        help = "there is one result: select a constant beside it, 1 AS id, to be its key; or print changes"
    elif hidden:
        help = f"select {', '.join(hidden)} as well: no two rows agree there; or print changes"
    return Diagnostic(Code.UNSUPPORTED, _NO_KEY, statement.source.file, statement.emit.at, help)


def _view(lowered: Lowered, catalog: Catalog) -> OperatorView | None:
    if lowered.tree is None or lowered.positions is None:
        return None
    return statement_views(catalog).of(with_names_apart(lowered.tree, catalog, lowered.positions))


def _chosen(view: OperatorView) -> tuple[int, ...]:
    """The key of the fewest columns, the first of them; of a result of one row a column that is always the same."""
    constant = [place for place, column in enumerate(view.columns) if column.values.size == 1]
    known = [key for key in view.keys if key]
    if not known and frozenset() in view.keys:
        known = [frozenset((place,)) for place in constant]
    return min((tuple(sorted(key)) for key in known), key=lambda key: (len(key), key), default=())


def _hidden(tree: nodes.Tree, views: Views) -> Iterator[list[str]]:
    """Keys of the rows that a select list leaves out, by the names of their columns."""
    while isinstance(tree, nodes.Alias | nodes.SpjBlock | nodes.OrderBy):
        tree = tree.input
    if isinstance(tree, nodes.Project):
        schema = views.of(tree.input).schema
        for key in views.of(tree.input).keys:
            yield [schema[place].name for place in sorted(key)]
