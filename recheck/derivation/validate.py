"""A derivation against its statement: what it proves, or every reason why it proves nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.names_apart import with_names_apart
from streambound.analyzer.algebra.nodes import Tree
from streambound.analyzer.block_queries import BlockReader
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.findings import Finding
from streambound.analyzer.lower import lower
from streambound.analyzer.statement import Statement
from streambound.recheck.certificates.claims import RejectedError, read_as
from streambound.recheck.certificates.quantity import Quantity, total
from streambound.recheck.certificates.validate import Proof, amount_faults
from streambound.recheck.derivation.aggregates import groups
from streambound.recheck.derivation.blocks import Blocks
from streambound.recheck.derivation.claims import ClaimedDerivation, ClaimedOperatorState, NotCheckedError
from streambound.recheck.derivation.counts import Counts
from streambound.recheck.derivation.each_key import goes_by_keys, of_each_key, open_keys, unique_keys
from streambound.recheck.derivation.joins import join
from streambound.recheck.derivation.log import checked_facts
from streambound.recheck.derivation.operations import ExpectedState, Needed, OperationChecker, OperatorRule
from streambound.recheck.derivation.operators import bucket, distinct, fixpoint, linear, relation, set_operation, union
from streambound.recheck.derivation.over import over
from streambound.recheck.derivation.plan import PlanNode, PlanNodes
from streambound.recheck.derivation.rewrites import rewritten

_RULES: Mapping[type[nodes.Tree] | str, OperatorRule] = MappingProxyType({
    nodes.Scan: relation,
    nodes.Filter: linear,
    nodes.Project: linear,
    nodes.Alias: linear,
    nodes.SpjBlock: linear,
    nodes.Bucket: bucket,
    nodes.Recur: linear,
    nodes.Union: union,
    nodes.Distinct: distinct,
    nodes.Except: set_operation,
    nodes.Intersect: set_operation,
    nodes.Join: join,
    nodes.Aggregate: groups,
    nodes.Over: over,
    nodes.Fixpoint: fixpoint,
    "each key": of_each_key,
})  # fmt: skip
"""The rule of each operator; one that is not here is not checked."""


def proved(statement: Statement, catalog: Catalog, document: Any) -> Proof:
    """Check a derivation (plain JSON) against a statement; raises NotCheckedError for unknown rules."""
    try:
        claim = read_as(ClaimedDerivation, document)
        lowered = lower(statement, catalog, joining=claim.joining)
        if lowered.tree is None or lowered.positions is None:
            return Proof(("there is no such query in the file any more",))
        if claim.joining and lower(statement, catalog).tree == lowered.tree:
            return Proof(("nothing that it asks of relations is joined with them",))
        blocks = BlockReader(lowered.positions, catalog, statement.name, statement.span, lowered.queries)
        named = with_names_apart(lowered.tree, catalog, lowered.positions)
        return _proved(claim, named, blocks, catalog)
    except RejectedError as error:
        return Proof((str(error),))
    except Finding as error:
        raise NotCheckedError(error.diagnostic.message) from error


def _proved(claim: ClaimedDerivation, tree: Tree, blocks: BlockReader, catalog: Catalog) -> Proof:
    root = rewritten(PlanNode(tree, catalog), claim.rewrites, blocks)
    symbols: dict[str, Quantity] = {}
    facts = checked_facts(PlanNodes(root, claim.nodes), claim.facts)
    operations = OperationChecker(_RULES, blocks, Counts(facts, symbols), Blocks(symbols))
    operations.check(root, Needed(root.every), claim.operation)
    facts.require_used()
    keys = [[one] for one in open_keys(root)] if goes_by_keys(claim.operation) else []
    keys += unique_keys(root, symbols)
    if len(keys) != len(claim.keys):
        raise RejectedError("other keys end, or come once, than it says")
    sizes = [_claimed(one, states, symbols).check(one, symbols) for one, states in zip(claim.keys, keys, strict=True)]
    every = total([*operations.sizes.values(), *sizes])
    wrong = tuple(amount_faults("M", claim.entries, every, symbols))
    return Proof(wrong, None if wrong else every)


def _claimed(
    claim: ClaimedOperatorState, states: Sequence[ExpectedState], symbols: dict[str, Quantity]
) -> ExpectedState:
    """The one that is claimed of what may be said of a state; another one where none is."""
    return next((one for one in states if not any(amount_faults("", claim.size, one.size, symbols))), states[0])
