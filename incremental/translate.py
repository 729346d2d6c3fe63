"""SQL's algebra to circuits: the registry of what translates which operator."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from streambound.analyzer.algebra.nodes import (
    Aggregate,
    Alias,
    Apply,
    AsOf,
    Bucket,
    Distinct,
    Except,
    Filter,
    FirstRows,
    Fixpoint,
    Intersect,
    Join,
    OrderBy,
    Over,
    Project,
    Recur,
    Scan,
    SpjBlock,
    Tree,
    Union,
)
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.findings import Positions
from streambound.incremental.circuit import Circuit, CircuitColumn
from streambound.incremental.translation.aggregates import aggregate
from streambound.incremental.translation.joins import join
from streambound.incremental.translation.recursion import fixpoint
from streambound.incremental.translation.rows import (
    alias,
    as_of,
    block,
    difference,
    distinct,
    filter_rows,
    intersection,
    project,
    recur,
    scan,
    union,
)
from streambound.incremental.translation.subqueries import apply
from streambound.incremental.translation.translator import Around, Translation, Translator
from streambound.incremental.translation.views import OuterNeeded, Untranslatable
from streambound.incremental.translation.windows import bucket, first_rows, order_by, over
from streambound.incremental.well_formed import verified

TRANSLATIONS: tuple[tuple[type[Tree], Translation], ...] = (
    (Scan, scan),
    (AsOf, as_of),
    (Alias, alias),
    (Recur, recur),
    (SpjBlock, block),
    (Filter, filter_rows),
    (Project, project),
    (Distinct, distinct),
    (Union, union),
    (Except, difference),
    (Intersect, intersection),
    (Join, join),
    (Aggregate, aggregate),
    (Apply, apply),
    (Bucket, bucket),
    (Over, over),
    (OrderBy, order_by),
    (FirstRows, first_rows),
    (Fixpoint, fixpoint),
)


def translate(
    tree: Tree, catalog: Catalog, subqueries: Mapping[int, Tree] | None = None, positions: Positions | None = None
) -> Circuit:
    """The circuit of a tree, over Z-sets; raises Untranslatable, with a place where ``positions`` are known.

    ``subqueries`` are the trees of those in expressions, by the identity of their syntax, as `Lowering` collects them.
    """
    to = Translator(catalog, subqueries or {}, dict(TRANSLATIONS), positions)
    try:
        view = to.view(tree, Around())
    except OuterNeeded as error:
        raise Untranslatable(f"there is no column {error} here", tree.syntax, tree.at) from error
    circuit = to.builder.circuit(view.node, 0)
    names = tuple(CircuitColumn(column.name, column.kind) for column in view.columns)
    top = replace(circuit.nodes[circuit.output], schema=names)
    nodes = tuple(top if node.id == top.id else node for node in circuit.nodes)
    return verified(replace(circuit, nodes=nodes))
