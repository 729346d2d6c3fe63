"""The rule of each operator; one that is not here is not checked."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from streambound.analyzer.algebra import nodes
from streambound.recheck.derivation.aggregates import groups
from streambound.recheck.derivation.each_key import of_each_key
from streambound.recheck.derivation.joins import join
from streambound.recheck.derivation.operations import OperatorRule
from streambound.recheck.derivation.operators import distinct, fixpoint, linear, relation, set_operation, union
from streambound.recheck.derivation.over import over

RULES: Mapping[type[nodes.Tree] | str, OperatorRule] = MappingProxyType({
    nodes.Scan: relation,
    nodes.Filter: linear,
    nodes.Project: linear,
    nodes.Alias: linear,
    nodes.SpjBlock: linear,
    nodes.Bucket: linear,
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
