"""Values of one row that a condition tested above a block reads: the block computes them, and keeps no more of the row.

    π[S.a, T.v % 3](σ[S.v * (T.v % 3) > 1](block(S ⋈ T)))
    ->  π[a, m](σ[v * m > 1](block(π[S.a AS a, S.v AS v, T.v % 3 AS m](S ⋈ T))))

Only expressions whose columns nothing else reads: of others the columns are kept anyway.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, field
from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra.nodes import Filter, Named, Project, Scalar, SpjBlock, Tree
from streambound.analyzer.algebra.schema import schema
from streambound.analyzer.algebra.schema_columns import Schema, meant
from streambound.analyzer.algebra.syntax import column_of
from streambound.analyzer.block_queries import BlockReader
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.findings import Finding
from streambound.preprocess.trees.with_inputs import with_inputs


def values_in_blocks(tree: Tree, blocks: BlockReader, catalog: Catalog) -> Tree:
    """A tree whose blocks compute what conditions right above them read of one row."""
    return values_in_block(with_inputs(tree, lambda one: values_in_blocks(one, blocks, catalog)), blocks, catalog)


def values_in_block(tree: Tree, blocks: BlockReader, catalog: Catalog) -> Tree:
    """A select list and a condition above a block that computes such values; another operator as it is."""
    if not isinstance(tree, Project) or not isinstance(tree.input, Filter):
        return tree
    block, items = tree.input.input, [item for item in tree.items if isinstance(item, Named)]
    if not isinstance(block, SpjBlock) or len(items) < len(tree.items):
        return tree
    shown = [item.value.syntax for item in items]
    if any(one.find(exp.Query) for one in (*shown, tree.input.condition.syntax)):
        return tree
    try:
        found = _ValuesOfRows(block.input, schema(block, catalog), blocks).below(tree.input, shown)
    except Finding:
        return tree
    if found is None:
        return tree
    below, values = found
    return replace(
        tree, input=below, items=tuple(replace(one, value=value) for one, value in zip(items, values, strict=True))
    )


class _ValuesOfRows(Struct):
    """The columns and values that are read of a block's rows, while they are looked for.

    ``columns`` are those that are read as they are, by their places, ``values`` larger expressions over one row, by
    their texts, with the places that they read.
    """

    body: Tree
    given: Schema
    blocks: BlockReader
    columns: set[int] = field(default_factory=set)
    values: dict[str, tuple[exp.Expr, frozenset[int]]] = field(default_factory=dict)

    def below(self, late: Filter, shown: Sequence[exp.Expr]) -> tuple[Filter, list[Scalar]] | None:
        """The condition above a block that computes such values, and the select list above it; None without any."""
        condition = late.condition.syntax
        self._read(condition)
        tested = set(self.values)
        for one in shown:
            self._read(one)
        found = {text: node for text, (node, _) in self.values.items() if text in tested and self._alone(text)}
        if not found:
            return None
        moved = frozenset[int]().union(*(self.values[text][1] for text in found))
        kept = sorted((self.columns | frozenset[int]().union(*(p for _, p in self.values.values()))) - moved)
        items = [*(column_of(self.given[place]) for place in kept), *found.values()]
        named = tuple(Named(f"_c{n}", Scalar(node), alias=True) for n, node in enumerate(items))
        places = {place: n for n, place in enumerate(kept)}
        texts = {text: n for n, text in enumerate(found, len(kept))}

        def over(one: exp.Expr) -> Scalar:
            return Scalar(self._renamed(one, places, texts))

        block = SpjBlock(Project(self.body, named, syntax=late.syntax))
        return replace(late, input=block, condition=over(condition)), [over(one) for one in shown]

    def _alone(self, text: str) -> bool:
        """Whether nothing else reads the columns of a value."""
        places = self.values[text][1]
        others = (mine for other, (_, mine) in self.values.items() if other != text)
        return not places & self.columns and not any(places & mine for mine in others)

    def _read(self, node: exp.Expr) -> None:
        if isinstance(node, exp.Paren):
            self._read(node.this)
        elif isinstance(node, exp.Column):
            place = meant(node, self.given)
            self.columns |= set() if place is None else {place}
        elif places := self._places_of_one_row(node):
            self.values.setdefault(node.sql("spark"), (node, places))
        else:
            for child in node.iter_expressions():
                self._read(child)

    def _places_of_one_row(self, node: exp.Expr) -> frozenset[int]:
        """The columns of a value, where it is computed of one row of one source, and is a value by itself."""
        columns = [meant(one, self.given) for one in node.find_all(exp.Column)]
        places = frozenset(place for place in columns if place is not None)
        if not places or None in columns or not isinstance(node, exp.Binary | exp.Func | exp.Unary):
            return frozenset()
        return places if len(self.blocks.sources_of(self.body, node)) == 1 else frozenset()

    def _renamed(self, node: exp.Expr, places: dict[int, int], texts: dict[str, int]) -> exp.Expr:
        """An expression over the columns that the block has then."""
        if (number := texts.get(node.sql("spark"))) is not None:
            return exp.column(f"_c{number}")
        if isinstance(node, exp.Column):
            place = meant(node, self.given)
            return node.copy() if place is None else exp.column(f"_c{places[place]}")
        holder = exp.Paren(this=node.copy())
        for child, own in zip(list(holder.this.iter_expressions()), node.iter_expressions(), strict=True):
            child.replace(self._renamed(own, places, texts))
        found: exp.Expr = holder.this
        return found
