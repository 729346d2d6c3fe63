"""Names of their own for the columns of inner queries that SQL gives one name: an exact rewriting.

``SELECT COUNT(*) FROM (SELECT a, b AS a FROM S) q  ->  SELECT COUNT(*) FROM (SELECT a, b AS a_2 FROM S) q``

No name means such a column, which would be ambiguous, but ``*`` and set operations read it by its place, and the
operators of a job know columns by their names. The statement's own columns keep theirs: results are printed by them.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.made_columns import shown_column
from streambound.analyzer.algebra.schema import schema, starred_places
from streambound.analyzer.algebra.schema_columns import Schema
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.findings import Positions


def with_names_apart(tree: nodes.Tree, catalog: Catalog, positions: Positions) -> nodes.Tree:
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


class _Renaming(Struct, frozen=True):
    """Renames columns; ``recursive`` holds those of the enclosing `Fixpoint`, before and after."""

    catalog: Catalog
    positions: Positions
    recursive: tuple[Schema, Schema] = ((), ())

    def printed(self, tree: nodes.Tree) -> nodes.Tree:
        """A query whose columns keep their names."""
        match tree:
            case nodes.Project():
                return self._project(tree, printed=True)
            case nodes.Distinct(input) | nodes.OrderBy(input) | nodes.FirstRows(input):
                return replace(tree, input=self.printed(input))
            case _ if isinstance(tree, nodes.SetOperation):
                return replace(tree, left=self.printed(tree.left), right=self.apart(tree.right))
        return self.apart(tree)

    def apart(self, tree: nodes.Tree) -> nodes.Tree:
        """An operator of whose columns no two have one name and alias."""
        match tree:
            case nodes.Project():
                return self._project(tree, printed=False)
            case nodes.Alias(columns=columns) if columns:
                return replace(tree, input=self.apart(tree.input), columns=names_apart(columns))
            case nodes.Fixpoint():
                base = self.apart(tree.base)
                inner = replace(self, recursive=(self._old(tree.base), self._new(base)))
                return replace(tree, base=base, step=inner.apart(tree.step))
        return replace(tree, **{name: self.apart(below) for name, below in nodes.named_inputs(tree).items()})

    def _project(self, tree: nodes.Project, printed: bool) -> nodes.Tree:
        """A list of whose items, those that a ``*`` stands for too, no two have one name."""
        below = self.apart(tree.input)
        before, after = self._old(tree.input), self._new(below)
        names = [column.name for column in self._old(tree)]
        wanted = names if printed else names_apart(names)
        if list(wanted) == names and before == after:
            return replace(tree, input=below)
        items, given = list[nodes.Item](), iter(wanted)
        for item in tree.items:
            if isinstance(item, nodes.Star):
                items += [self._column(place, next(given), item, after) for place in starred_places(item, before)]
            elif (name := next(given)) != item.name:
                items.append(replace(item, name=name, alias=True))
            else:
                items.append(item)
        return replace(tree, input=below, items=tuple(items))

    def _column(self, place: int, name: str, star: nodes.Star, given: Schema) -> nodes.Named:
        """A column that a ``*`` stands for, by a name."""
        node = shown_column(given[place], self.positions.of(star.syntax or exp.Null()))
        return nodes.Named(name, nodes.Scalar(node), alias=name != given[place].name)

    def _old(self, tree: nodes.Tree) -> Schema:
        return schema(tree, self.catalog, self.recursive[0])

    def _new(self, tree: nodes.Tree) -> Schema:
        return schema(tree, self.catalog, self.recursive[1])
