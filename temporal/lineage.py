"""A SEQ TP block: what it means as a plan over periods with lineages, or why it means nothing."""

from __future__ import annotations

from dataclasses import replace

from msgspec import Struct, structs
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.sql_words import sql_words
from streambound.analyzer.catalog import Catalog, DeclaredTable
from streambound.analyzer.codes import Code
from streambound.analyzer.constants import BIGINT, DOUBLE
from streambound.analyzer.findings import Finding
from streambound.analyzer.seq_blocks import SeqBlock
from streambound.analyzer.spans import SourceText
from streambound.temporal.grouping import syntax_of
from streambound.temporal.language import EXPECTED, block_tree
from streambound.temporal.pushing import joined
from streambound.temporal.rewriting import Rewriter, Rewritten, uncomparable
from streambound.temporal.scalars import finding
from streambound.temporal.scope import LINEAGE, Columns, SeenColumn
from streambound.temporal.snapshot import check_names, shown
from streambound.temporal.time_line import time_line
from streambound_runtime.operators.period_plan import (
    SliceAggregate,
    SliceDistinct,
    SliceGroup,
    SliceLineage,
    SlicePlan,
    SliceProject,
    SliceRelation,
    chance_columns,
    scans,
    width,
)
from streambound_runtime.operators.plan import JoinType

_PERIOD = "a snapshot has no period; select by _begin and _end outside of the block"
_FORM = "SEQ TP evaluates SELECT … FROM x [join y] [WHERE …], and UNION, EXCEPT and INTERSECT of such SELECTs"


class LineageBlock(Struct, frozen=True):
    """A SEQ TP block with its plan, and the relations that it reads."""

    block: SeqBlock
    query: SliceLineage
    tables: tuple[DeclaredTable, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of its rows."""
        return (*self.query.columns, *own_columns(self.query), *(("_lineage_dag",) if self.query.dag else ()))


def lineage_block(block: SeqBlock, source: SourceText, catalog: Catalog) -> LineageBlock:
    """The plan of a block; raises Finding at what is outside of the language or means nothing."""
    tree, lowering, positions = block_tree(block, source, catalog)
    for node in filter(is_expected, block.query.walk()):
        item = node.parent if isinstance(node.parent, exp.Alias) else node
        if not isinstance(item.parent, exp.Select) or not item.parent.args.get("group"):
            raise finding(positions, "EXPECTED(…) is an item of a list with GROUP BY", node)
    rewriter = LineageRewriter(positions, catalog, lowering)
    found = rewriter.tree(tree)
    line = time_line(block, source, catalog, rewriter.periods, positions)
    names, plan = shown(found)
    read = dict.fromkeys(scan.table for scan in scans(plan))
    tables = tuple(table for name in read if (table := catalog.table(name)) is not None)
    query = SliceLineage(
        block.name, plan, names, line.kind.name, catalog.lineage_nodes, catalog.probability_bounds,
        low=line.low, high=line.high, as_of=line.as_of,
    )  # fmt: skip
    check_names(names, (*own_columns(query), "_lineage_dag"), block, positions)
    return LineageBlock(block, query, tables)


def own_columns(query: SliceLineage) -> tuple[str, ...]:
    """The columns of a result after those of the list."""
    return (*(() if query.as_of else ("_begin", "_end")), "_lineage", *chance_columns(query))


class LineageRewriter(Rewriter):
    """Rewrites the tree of a SEQ TP block: joins, conditions and columns of temporal-probabilistic relations."""

    def tree(self, tree: nodes.Tree, outer: tuple[Columns, ...] = ()) -> Rewritten:
        """The operators of a tree; raises Finding."""
        match tree:
            case nodes.Scan():
                return self._relation(tree)
            case nodes.Alias():
                return super().tree(tree, outer)
            case nodes.Project():
                return super().tree(self._with_expected(tree), outer)
            case nodes.Filter() | nodes.Join():
                return super().tree(tree, outer)
            case nodes.Aggregate():
                return self._groups(tree, outer)
            case nodes.Distinct(input):  # rows are different anyway
                return self.tree(input, outer)
            case nodes.Union() | nodes.Except() | nodes.Intersect():
                if not tree.distinct:
                    word = type(tree).__name__.upper()
                    message = f"{word} ALL is outside of what SEQ TP can evaluate: a row is there once, or not"
                    raise self._refused(tree, message, f"write {word}")
                found = super().tree(tree, outer)
                return structs.replace(found, plan=found.plan.input) if isinstance(found.plan, SliceDistinct) else found
        raise self._refused(tree, f"{sql_words(tree)} is outside of what SEQ TP can evaluate", _FORM)

    def _with_expected(self, tree: nodes.Project) -> nodes.Project:
        """A select list with EXPECTED(…) as columns of the groups, which keep only the aggregates that are used."""
        filters, under = list[nodes.Filter](), tree.input
        while isinstance(under, nodes.Filter):
            filters, under = [*filters, under], under.input
        if not isinstance(under, nodes.Aggregate):
            return tree
        items, made = list[nodes.Item](), list[nodes.AggregateCall]()
        for item in tree.items:
            node = syntax_of(item.value) if isinstance(item, nodes.Named) else exp.Null()
            if not isinstance(item, nodes.Named) or not is_expected(node):
                items.append(item)
                continue
            (named,) = node.expressions or [exp.Null()]
            call = next((one for one in under.calls if one.name == named.name), None)
            if call is None or call.function not in ("COUNT", "SUM") or call.distinct:
                raise finding(self.positions, "EXPECTED is of COUNT and SUM", node, "write EXPECTED(COUNT(*))")
            made.append(structs.replace(call, name=f"{EXPECTED} {call.name}", function=f"{EXPECTED} {call.function}"))
            items.append(structs.replace(item, value=nodes.Scalar(exp.column(made[-1].name, quoted=True))))
        values = [syntax_of(one.value) for one in items if isinstance(one, nodes.Named)]
        values += [syntax_of(one.condition) for one in filters]
        used = {column.name for value in values for column in value.find_all(exp.Column)}
        calls = (*(one for one in under.calls if one.name in used), *dict.fromkeys(made))
        found: nodes.Tree = structs.replace(under, calls=calls)
        for one in reversed(filters):
            found = structs.replace(one, input=found)
        return structs.replace(tree, input=found, items=tuple(items))

    def _groups(self, tree: nodes.Aggregate, outer: tuple[Columns, ...]) -> Rewritten:
        """Rows for each number of rows that a group can have."""
        counts = [call for call in tree.calls if not call.function.startswith(EXPECTED)]
        if not tree.keys:
            message = "an aggregate without GROUP BY is outside of what SEQ TP can evaluate"
            raise self._refused(tree, message, "group by a column")
        if len(counts) > 1 or any(one.function != "COUNT" or one.distinct for one in counts):
            at = counts[-1].syntax or exp.Null()
            help = "of SUM there is EXPECTED(SUM(x)), and of other COUNTs EXPECTED(COUNT(x))"
            raise finding(self.positions, "SEQ TP has one COUNT of each group", at, help)
        plain = (structs.replace(call, function=call.function.removeprefix(f"{EXPECTED} ")) for call in tree.calls)
        found = super()._aggregate(structs.replace(tree, calls=tuple(plain)), outer)
        assert isinstance(found.plan, SliceGroup), "rows are grouped"
        aggregates, columns = list[SliceAggregate](), [*found.columns]
        for place, (call, one) in enumerate(zip(tree.calls, found.plan.aggregates, strict=True), len(tree.keys)):
            expected = call.function.startswith(EXPECTED)
            aggregates.append(replace(one, function=call.function.lower(), result="double" if expected else "bigint"))
            columns[place] = structs.replace(columns[place], type=DOUBLE if expected else BIGINT)
        return Rewritten(replace(found.plan, aggregates=tuple(aggregates)), tuple(columns))

    def with_values(
        self, under: Rewritten, node: exp.Expr, outer: tuple[Columns, ...]
    ) -> tuple[Rewritten, exp.Expr]:  # fmt: skip
        """Keep a subquery as it is, to be refused later: it has other values in other worlds."""
        return under, node

    def join(self, kind: JoinType, left: SlicePlan, right: SlicePlan, conditions: list[exp.Expr]) -> SlicePlan:
        """A join; a row of the left side and any of its matches, as one derivation each, are what a semi join has."""
        made = joined("inner" if kind == "semi" else kind, left, right, conditions, width(left))
        return SliceProject(made, tuple(f"c{place}" for place in range(width(left)))) if kind == "semi" else made

    def _relation(self, tree: nodes.Scan) -> Rewritten:
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
            SeenColumn(aliases, column.name, place, refused=uncomparable(column.type), type=column.type)
            for place, column in enumerate(kept)
        ]
        for name in own:
            hidden = _PERIOD if name in (period.begin, period.end) else LINEAGE
            columns.append(SeenColumn(aliases, name, -1, hidden=hidden))
        scan = SliceRelation(table.name, tuple(column.name for column in kept), (period.begin, period.end))
        return Rewritten(scan, tuple(columns))

    def _refused(self, tree: nodes.Tree, message: str, help: str) -> Finding:
        at = tree.at or self.positions.of(tree.syntax or exp.Null())
        return self.positions.finding(Code.UNSUPPORTED, message, at, help)


def is_expected(node: exp.Expr) -> bool:
    """Whether an expression is EXPECTED(…)."""
    return isinstance(node, exp.Anonymous) and node.name.lower() == EXPECTED
