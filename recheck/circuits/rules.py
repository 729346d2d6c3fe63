"""The rule of each operator that may stand above a block: a new operator's is one line here."""

from __future__ import annotations

from streambound.analyzer.algebra.nodes import (
    Aggregate,
    Alias,
    Bucket,
    Distinct,
    Except,
    Filter,
    Fixpoint,
    Intersect,
    Join,
    Over,
    Project,
    Scan,
    SpjBlock,
    Tree,
    Union,
)
from streambound.recheck.circuits import each_key, groups, joins, late_conditions, over, recursion, rows, set_operations
from streambound.recheck.circuits.states import Rules, States
from streambound.recheck.circuits.view import View


def _static(tree: Tree, states: States) -> View:
    return rows.static_rows(tree, states).view


RULES = Rules(
    static=_static,
    block=rows.block,
    each_key=each_key.of_each_key,
    operators={
        Aggregate: groups.aggregate,
        Project: rows.project,
        Filter: rows.filtered,
        Alias: rows.alias,
        Except: set_operations.difference,
        Intersect: set_operations.difference,
        Union: set_operations.union,
        Join: joins.join,
        Over: over.over,
        Bucket: rows.buckets,
        Distinct: set_operations.distinct,
        Fixpoint: recursion.recursion,
        Scan: rows.changing_relation,
        SpjBlock: late_conditions.marked,
    },
)
