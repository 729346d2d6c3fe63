"""A SEQ TP block: what it means as a plan over periods with lineages, or why it means nothing."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from streambound.analyzer.algebra.nodes import Alias, Filter, Join, JoinKind, Named, Project, Scan, Tree
from streambound.analyzer.algebra.sql_words import sql_words
from streambound.analyzer.catalog import Catalog, DeclaredTable
from streambound.analyzer.codes import Code
from streambound.analyzer.findings import Finding
from streambound.analyzer.seq_blocks import SeqBlock
from streambound.analyzer.spans import SourceText
from streambound.temporal.language import block_tree
from streambound.temporal.rewriting import Rewriter, Rewritten, uncomparable
from streambound.temporal.scalars import finding, no_subquery
from streambound.temporal.scope import LINEAGE, Columns, SeenColumn
from streambound.temporal.snapshot import check_names, shown
from streambound.temporal.time_line import time_line
from streambound_runtime.operators.period_plan import SliceLineage, SliceRelation, scans

OWN = ("_begin", "_end", "_lineage", "_p", "_lineage_dag")
_PERIOD = "a snapshot has no period; select by _begin and _end outside of the block"
_FORM = "a SEQ TP block is SELECT columns FROM x [join] y ON condition [WHERE condition], of relations or such blocks"


@dataclass(frozen=True, slots=True)
class LineageBlock:
    """A SEQ TP block with its plan, and the relations that it reads."""

    block: SeqBlock
    query: SliceLineage
    tables: tuple[DeclaredTable, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of its rows."""
        return (*self.query.columns, *OWN[: 5 if self.query.dag else 4])


def lineage_block(block: SeqBlock, source: SourceText, catalog: Catalog) -> LineageBlock:
    """The plan of a block; raises Finding at what is outside of the language or means nothing."""
    tree, lowering, positions = block_tree(block, source, catalog)
    rewriter = LineageRewriter(positions, catalog, lowering)
    found = rewriter.tree(tree)
    line = time_line(block, source, catalog, rewriter.periods, positions)
    names, plan = shown(found)
    check_names(names, OWN, block, positions)
    read = dict.fromkeys(scan.table for scan in scans(plan))
    tables = tuple(table for name in read if (table := catalog.table(name)) is not None)
    return LineageBlock(block, SliceLineage(block.name, plan, names, line.kind.name, catalog.lineage_nodes), tables)


class LineageRewriter(Rewriter):
    """Rewrites the tree of a SEQ TP block: joins, conditions and columns of temporal-probabilistic relations."""

    def tree(self, tree: Tree, outer: tuple[Columns, ...] = ()) -> Rewritten:
        """The operators of a tree; raises Finding."""
        match tree:
            case Scan():
                return self._relation(tree)
            case Alias():
                return super().tree(tree, outer)
            case Filter(condition=condition):
                no_subquery(condition.syntax, self.positions)
                return super().tree(tree, outer)
            case Join(kind=kind) if kind is not JoinKind.SEMI:
                return super().tree(tree, outer)
            case Project(items=items):
                for item in items:
                    if isinstance(item, Named) and not isinstance(item.value.syntax, exp.Column):
                        message = "the items of a SEQ TP block are columns"
                        raise finding(self.positions, message, item.value.syntax, _FORM)
                return super().tree(tree, outer)
        raise self._refused(tree, f"{sql_words(tree)} is outside of what SEQ TP can evaluate", _FORM)

    def _relation(self, tree: Scan) -> Rewritten:
        table = self.catalog.table(tree.table)
        if table is None:
            raise self._refused(tree, "a SEQ TP block reads a relation", _FORM)
        period = table.period
        if period is None or period.key is None or period.probability is None:
            message = f"{table.name} has no period, key and probability, so its rows have no lineage"
            raise self._refused(tree, message, f"declare them in {self.catalog.file}, or write SEQ VT")
        self.periods.append((table, tree.at or self.positions.of(tree.syntax or exp.Null())))
        own = period.hidden(probabilistic=True)
        kept = [column for column in table.columns if column.name not in own]
        aliases = frozenset({tree.alias.lower()})
        columns = [
            SeenColumn(aliases, column.name, place, refused=uncomparable(column.type))
            for place, column in enumerate(kept)
        ]
        for name in own:
            hidden = _PERIOD if name in (period.begin, period.end) else LINEAGE
            columns.append(SeenColumn(aliases, name, -1, hidden=hidden))
        scan = SliceRelation(table.name, tuple(column.name for column in kept), (period.begin, period.end))
        return Rewritten(scan, tuple(columns))

    def _refused(self, tree: Tree, message: str, help: str) -> Finding:
        at = tree.at or self.positions.of(tree.syntax or exp.Null())
        return self.positions.finding(Code.UNSUPPORTED, message, at, help)
