"""Conditions over what is computed of several rows: a block without them is proved, and its results are tested above.

σ_p(B) has no more rows than B, and is linear: nothing is remembered for p (DBSP, section 3). So whichever conditions
are taken for p, a block that needs no more than so many entries without them is enough; that it shows what p reads of
each row is in the block's SQL, which the certificate must have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from sqlglot import exp

from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.facts import facts
from streambound.analyzer.algebra.nodes import (
    ONE_SIDED,
    Filter,
    Item,
    Join,
    JoinKind,
    Named,
    Project,
    Scalar,
    SpjBlock,
    Tree,
    named_inputs,
)
from streambound.analyzer.algebra.schema import parsed, schema
from streambound.analyzer.block_queries import BlockReader
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.findings import Finding
from streambound.analyzer.query import Computed
from streambound.preprocess.pipeline import derive
from streambound.recheck.certificates.conditions import Conditions
from streambound.recheck.certificates.quantity import Quantity
from streambound.recheck.circuits.claims import NotRecheckedError
from streambound.recheck.circuits.closing_columns import closing_columns
from streambound.recheck.circuits.evidence import different_values
from streambound.recheck.circuits.states import States
from streambound.recheck.circuits.trees import all_of, called, conjuncts, scalar
from streambound.recheck.circuits.view import View

_HOLDS = "_holds"
Test = Callable[[exp.Expr], bool]


def with_late_conditions(tree: Tree, blocks: BlockReader, catalog: Catalog) -> Tree:
    """The tree, each block of it without what no block can say, in a filter of its own: ``Filter(SpjBlock(…))``."""
    if isinstance(tree, Filter | Join) and is_block(tree, catalog):
        bare, parts = _apart(tree, lambda part: True)
        if not parts or _is_read(tree, bare, blocks, catalog):
            return tree
        below, late = _apart(tree, lambda part: _is_late(part, bare, blocks, catalog))
        if (every := all_of(late)) is not None:
            return Filter(SpjBlock(below), every, syntax=tree.syntax, at=tree.at)
    inputs = {name: with_late_conditions(under, blocks, catalog) for name, under in named_inputs(tree).items()}
    return replace(tree, **inputs) if inputs else tree  # type: ignore[arg-type]


def _apart(tree: Tree, late: Test) -> tuple[Tree, list[exp.Expr]]:
    """A block without some of its conditions, and these; those of the right side of an outer join stay."""
    match tree:
        case Filter(input, condition):
            below, found = _apart(input, late)
            kept, mine = _divided(condition, late)
            return (below if kept is None else replace(tree, input=below, condition=kept)), [*found, *mine]
        case Join(JoinKind.INNER, left, right, condition):
            (one, found), (other, more) = _apart(left, late), _apart(right, late)
            kept, mine = _divided(condition, late)
            return replace(tree, left=one, right=other, condition=kept), [*found, *more, *mine]
        case Join(kind, left) if kind in (*ONE_SIDED, JoinKind.LEFT):
            below, found = _apart(left, late)
            return replace(tree, left=below), found
    return tree, []


def _divided(condition: Scalar | None, late: Test) -> tuple[Scalar | None, list[exp.Expr]]:
    parts = conjuncts(condition)
    found = [part for part in parts if late(part)]
    return (all_of(part for part in parts if part not in found) if found else condition), found


def _is_late(part: exp.Expr, bare: Tree, blocks: BlockReader, catalog: Catalog) -> bool:
    """Whether a condition is of several rows, and a block with it cannot be read."""
    try:
        if part.find(exp.Query) or len(blocks.sources_of(bare, part)) < 2:
            return False
    except Finding:
        return False
    return not _is_read(Filter(bare, scalar(part), syntax=bare.syntax), bare, blocks, catalog)


def _is_read(block: Tree, bare: Tree, blocks: BlockReader, catalog: Catalog) -> bool:
    """Whether a block, without its conditions the ``bare`` one, can be read with all its conditions."""
    column = schema(bare, catalog)[0]
    shown = Named("_", scalar(exp.column(column.name, table=column.alias or None, quoted=True)), alias=True)
    try:
        blocks.query(block, [shown])
    except Finding:
        return False
    return True


def is_late(tree: Tree) -> bool:
    """Whether a tree is a block with conditions above it that are tested when a result is made."""
    return isinstance(tree, Filter) and isinstance(tree.input, SpjBlock)


def is_marked(tree: Tree) -> bool:
    """Whether a tree is a block of its own, whether or not there are conditions above it."""
    return isinstance(tree, SpjBlock) or is_late(tree)


def marked(tree: Tree, states: States) -> View:
    """The tables of a block with the columns that are read."""
    assert isinstance(tree, SpjBlock)
    _, shown = _read(tree, states)
    derivation = derive(states.blocks.query(tree.input, shown))
    states.evidence.block(derivation.split, "bag", False, together=derivation.together)
    return View()


def _read(block: SpjBlock, states: States) -> tuple[list[int], list[Item]]:
    """The columns of a block that are read above it, by their places, as a select list."""
    given = schema(block.input, states.catalog)
    places = [place for place, column in enumerate(given) if called(column, states.needed)]
    nodes = [exp.column(given[n].name, table=given[n].alias or None, quoted=True) for n in places]
    return places, [Named(f"_c{n}", scalar(node), alias=True) for n, node in enumerate(nodes, 1)]


def tested_late(block: SpjBlock, items: Sequence[Item] | None, late: Scalar, states: States) -> View:
    """The tables of a block whose results are tested above it; ``items`` is its select list, None for what is read."""
    places, shown = _read(block, states)
    if items is not None:
        shown = [_guarded(item, block.input, late, states) for item in items]
    query = states.blocks.query(block.input, [*shown, Named(_HOLDS, late, alias=True)])
    width = len(query.branches[0].outputs) - 1
    names = [*(f"_{n}" for n in range(1, width + 1)), _HOLDS]
    branches = (
        replace(one, outputs=tuple(replace(o, name=name) for o, name in zip(one.outputs, names, strict=True)))
        for one in query.branches
    )
    tested = derive(replace(query, branches=tuple(branches)))
    states.evidence.block(tested.split, "bag", False, together=tested.together)
    found = View(closing=closing_columns(tested.split))
    return found.at(lambda place: [] if place >= width else [place if items is not None else places[place]])


def different_results(tree: Tree, values: Sequence[Scalar], states: States) -> Quantity:
    """The most different rows of some expressions over results that are tested late, or over the select list of them.

    It is what the front end knows of their values, where the conditions of the block leave no more; raises
    NotRecheckedError elsewhere.
    """
    block = tree
    while isinstance(block, Filter | Project):
        block = block.input
    assert isinstance(block, SpjBlock), "results that are tested late"
    items = tuple(Named(f"c{n}", value, alias=True) for n, value in enumerate(values))
    split = derive(states.blocks.query(block.input, items)).split
    own = sum(different_values(Conditions(branch)) for branch in split.branches)
    below = tree.input if isinstance(tree, Project) else tree
    known = facts(Project(below, items, syntax=tree.syntax), states.catalog).different
    if known is None or own > known:
        raise NotRecheckedError("results of which it cannot say how many different ones there are")
    return Quantity.number(known)


def _guarded(item: Item, body: Tree, late: Scalar, states: States) -> Item:
    """What is computed of several rows, of those only for which the condition holds."""
    if not isinstance(item, Named) or isinstance(parsed(item.value), exp.Column):
        return item
    branches = states.blocks.query(body, [item]).branches
    if not any(isinstance(branch.outputs[0].value, Computed) for branch in branches):
        return item
    guarded = exp.Case(ifs=[exp.If(this=parsed(late).copy(), true=parsed(item.value).copy())])
    guarded.meta.update(parsed(item.value).meta)
    return replace(item, value=scalar(guarded), alias=True)
