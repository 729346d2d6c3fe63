"""A statement with SEQ blocks: their plans, and the SQL around them, which Spark runs over their results."""

from __future__ import annotations

from msgspec import Struct
from sqlglot import exp

from streambound.analyzer.algebra.lowering import Lowering
from streambound.analyzer.algebra.schema import schema
from streambound.analyzer.algebra.verify import violations
from streambound.analyzer.catalog import Catalog, DeclaredTable, Kind
from streambound.analyzer.codes import Code
from streambound.analyzer.columns import Column
from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.findings import Finding, Positions
from streambound.analyzer.seq_blocks import SeqBlock, SeqKind
from streambound.analyzer.statement import Statement
from streambound.analyzer.types import DataType, Family
from streambound.temporal.lineage import LineageBlock, lineage_block
from streambound.temporal.snapshot import SnapshotBlock, snapshot_block

Block = SnapshotBlock | LineageBlock

_UNKNOWN = DataType("string", Family.OTHER)
"""The type of a block's column, which Spark knows."""


class SeqStatement(Struct, frozen=True):
    """A statement with SEQ blocks, read.

    ``outer`` is Spark SQL around the blocks, in which ``{name}`` stands for a block or a relation; empty where the
    statement is one block. ``ordered``: it says in which order rows are. ``tables`` are the relations that are read.
    """

    statement: Statement
    blocks: tuple[Block, ...]
    outer: str
    ordered: bool
    columns: tuple[str, ...]
    tables: tuple[DeclaredTable, ...]

    @property
    def projection(self) -> str:
        """The results of the blocks at a point of time."""
        return "tp" if any(isinstance(block, LineageBlock) for block in self.blocks) else "snapshot"


def read_statement(statement: Statement, catalog: Catalog) -> SeqStatement | Diagnostic:
    """A statement with SEQ blocks, read, or why it cannot be; never raises for a user's SQL."""
    source = statement.source
    try:
        blocks = tuple(_block(block, statement, catalog) for block in statement.blocks)
        return _around(statement, blocks, catalog)
    except Finding as finding:
        return finding.diagnostic
    except RecursionError:
        at = statement.blocks[0].at
        return Diagnostic(Code.UNSUPPORTED, "the statement is nested too deeply", source.file, at)


def _block(block: SeqBlock, statement: Statement, catalog: Catalog) -> Block:
    read = snapshot_block if block.kind is SeqKind.VT else lineage_block
    return read(block, statement.source, catalog)


def _around(statement: Statement, blocks: tuple[Block, ...], catalog: Catalog) -> SeqStatement:
    """The SQL around the blocks, with names that fit."""
    assert statement.tree is not None, "a statement with blocks has been parsed"
    tables = {table.name: table for block in blocks for table in block.tables}
    if len(statement.tokens) == 1:
        return SeqStatement(statement, blocks, "", False, blocks[0].columns, tuple(tables.values()))
    positions = Positions(statement.source, statement.tokens, statement.before)
    made = [_declared(block) for block in blocks]
    beside = Catalog(catalog.file, (*catalog.tables, *made))
    lowering = Lowering(positions, beside)
    tree = lowering.statement(statement.tree)
    if wrong := violations(tree, beside):
        raise _unknown(wrong[0], statement.tree, positions)
    outer = statement.tree.copy()
    local = {cte.alias.lower() for cte in outer.find_all(exp.CTE)}
    for table in outer.find_all(exp.Table):
        declared = beside.table(table.name) if table.name.lower() not in local else None
        if declared is None:
            continue
        if declared.kind is not Kind.RELATION:
            message = f"{declared.name} is a stream: around SEQ blocks there are relations"
            raise positions.finding(Code.UNSUPPORTED, message, table)
        if not table.alias:
            table.set("alias", exp.TableAlias(this=exp.to_identifier(declared.name, quoted=True)))
        if declared not in made:
            tables.setdefault(declared.name, declared)
        table.set("this", exp.to_identifier(_mark(declared.name.lower())))
    written = outer.sql("spark", comments=False).replace("{", "{{").replace("}", "}}")
    names = [table.name.lower() for table in (*made, *tables.values())]
    for name in names:
        written = written.replace(_mark(name), f"{{{name}}}")
    columns = tuple(column.name for column in schema(tree, beside))
    return SeqStatement(statement, blocks, written, bool(outer.args.get("order")), columns, tuple(tables.values()))


def _mark(name: str) -> str:
    """The mark of a table until its name is put in braces."""
    return f"__streambound_{name}__"


def _declared(block: Block) -> DeclaredTable:
    """A block as a relation."""
    return DeclaredTable(block.query.name, Kind.RELATION, tuple(Column(name, _UNKNOWN) for name in block.columns))


def _unknown(message: str, tree: exp.Expr, positions: Positions) -> Finding:
    """The finding for a name that nothing around the blocks has."""
    written = message.rpartition(" ")[2]
    at = next((found for found in tree.find_all(exp.Column) if found.sql("spark") == written), tree)
    return positions.finding(Code.UNKNOWN_COLUMN, f"no column {written!r} in this FROM", at)
