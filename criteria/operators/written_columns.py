"""Columns of an operator's inputs, as a query of its own must write them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sqlglot import exp

from streambound.analyzer.algebra.schema_columns import ViewColumn


def names_in(nodes: Iterable[exp.Expr]) -> Mapping[tuple[str, str], exp.Column]:
    """The columns that expressions read, by name and alias, as the last of them writes each."""
    return {(column.name, column.table): column for node in nodes for column in node.find_all(exp.Column)}


def called(column: ViewColumn, names: Iterable[tuple[str, str]] | None) -> bool:
    """Whether some of the names mean a column; None means all."""
    return names is None or any(column.called(*name) for name in names)


def named(column: ViewColumn, written: exp.Column | None, shown: Sequence[ViewColumn]) -> exp.Column:
    """The column with its input's alias, at the place where it is ``written``, if it is.

    A name that is plain above ``EXISTS`` or a semi join has two meanings in the inner join of the same inputs. One that
    several of the columns ``shown`` by the operator have is left as it is, and read as ambiguous.
    """
    if written is None:
        return exp.column(column.name, table=column.alias or None, quoted=True)
    if written.table or not column.alias or sum(one.called(written.name, "") for one in shown) > 1:
        return written
    node = written.copy()
    assert isinstance(node, exp.Column)
    node.set("table", exp.to_identifier(column.alias, quoted=True))
    return node
