"""The rule of each operator; one that is not here is not checked."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

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
    Recur,
    Scan,
    SpjBlock,
    Tree,
    Union,
)
from streambound.recheck.derivation.aggregates import groups
from streambound.recheck.derivation.joins import join
from streambound.recheck.derivation.operations import OperatorRule
from streambound.recheck.derivation.operators import (
    bucket,
    distinct,
    filtered_rows,
    fixpoint,
    recursive_rows,
    same_rows,
    select_list,
    union,
)
from streambound.recheck.derivation.over import over
from streambound.recheck.derivation.relations import relation
from streambound.recheck.derivation.sets import set_operation

RULES: Mapping[type[Tree], OperatorRule] = MappingProxyType({
    Scan: relation,
    Filter: filtered_rows,
    Project: select_list,
    Alias: same_rows,
    SpjBlock: same_rows,
    Union: union,
    Bucket: bucket,
    Distinct: distinct,
    Except: set_operation,
    Intersect: set_operation,
    Join: join,
    Aggregate: groups,
    Over: over,
    Fixpoint: fixpoint,
    Recur: recursive_rows,
})  # fmt: skip
