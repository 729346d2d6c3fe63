"""Names of their own for the columns of inner queries that SQL gives one name: an exact rewriting.

``SELECT COUNT(*) FROM (SELECT a, b AS a FROM S) q  ->  SELECT COUNT(*) FROM (SELECT a, b AS a_2 FROM S) q``

No name means such a column, which would be ambiguous, but ``*`` and set operations read it by its place, and the
operators of a job know columns by their names. The statement's own columns keep theirs: results are printed by them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from streambound.analyzer.algebra.made_columns import shown_column
from streambound.analyzer.algebra.nodes import (
    Alias,
    Distinct,
    FirstRows,
    Fixpoint,
    Item,
    Named,
    OrderBy,
    Project,
    Scalar,
    SetOperation,
    Star,
    Tree,
    named_inputs,
)
from streambound.analyzer.algebra.schema import schema, starred_places
from streambound.analyzer.algebra.schema_columns import Schema
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.findings import Positions


def with_names_apart(tree: Tree, catalog: Catalog, positions: Positions) -> Tree:
    """A statement's tree in which no two columns of an operator below the outermost query have one name and alias."""
    return _Renaming(catalog, positions).printed(tree)


def names_apart(names: Sequence[str]) -> tuple[str, ...]:
    """The names, made unique: a name that came before, in capitals or not, gets a number.

    >>> names_apart(["a", "b", "A", "a"])
    ('a', 'b', 'A_2', 'a_3')
    """
    found, taken = list[str](), {name.lower() for name in names}
    for place, name in enumerate(names):
        fresh, number = name, 2
        if any(name.lower() == before.lower() for before in names[:place]):
            while (fresh := f"{name}_{number}").lower() in taken:
                number += 1
        taken.add(fresh.lower())
        found.append(fresh)
    return tuple(found)


@dataclass(frozen=True)
class _Renaming:
    """Renames columns; ``recursive`` holds those of the enclosing `Fixpoint`, before and after."""

    catalog: Catalog
    positions: Positions
    recursive: tuple[Schema, Schema] = ((), ())

    def printed(self, tree: Tree) -> Tree:
        """A query whose columns keep their names."""
        match tree:
            case Project():
                return self._project(tree, printed=True)
            case Distinct(input) | OrderBy(input) | FirstRows(input):
                return replace(tree, input=self.printed(input))
            case _ if isinstance(tree, SetOperation):
                return replace(tree, left=self.printed(tree.left), right=self.apart(tree.right))
        return self.apart(tree)

    def apart(self, tree: Tree) -> Tree:
        """An operator of whose columns no two have one name and alias."""
        match tree:
            case Project():
                return self._project(tree, printed=False)
            case Alias(columns=columns) if columns:
                return replace(tree, input=self.apart(tree.input), columns=names_apart(columns))
            case Fixpoint():
                base = self.apart(tree.base)
                inner = replace(self, recursive=(self._old(tree.base), self._new(base)))
                return replace(tree, base=base, step=inner.apart(tree.step))
        return replace(tree, **{name: self.apart(below) for name, below in named_inputs(tree).items()})  # type: ignore[arg-type]

    def _project(self, tree: Project, printed: bool) -> Tree:
        """A list of whose items, those that a ``*`` stands for too, no two have one name."""
        below = self.apart(tree.input)
        before, after = self._old(tree.input), self._new(below)
        names = [column.name for column in self._old(tree)]
        wanted = names if printed else names_apart(names)
        if list(wanted) == names and before == after:
            return replace(tree, input=below)
        items, given = list[Item](), iter(wanted)
        for item in tree.items:
            if isinstance(item, Star):
                items += [self._column(place, next(given), item, after) for place in starred_places(item, before)]
            elif (name := next(given)) != item.name:
                items.append(replace(item, name=name, alias=True))
            else:
                items.append(item)
        return replace(tree, input=below, items=tuple(items))

    def _column(self, place: int, name: str, star: Star, given: Schema) -> Named:
        """A column that a ``*`` stands for, by a name."""
        node = shown_column(given[place], self.positions.of(star.syntax or exp.Null()))
        return Named(name, Scalar(node), alias=name != given[place].name)

    def _old(self, tree: Tree) -> Schema:
        return schema(tree, self.catalog, self.recursive[0])

    def _new(self, tree: Tree) -> Schema:
        return schema(tree, self.catalog, self.recursive[1])
