"""Certificates as a reader of the JSON report gets them, and whether `recheck` accepts them."""

from __future__ import annotations

import json
from typing import Any

from streambound.analyzer.boundedness import Facts
from streambound.criteria.bound import QueryBound, bound
from streambound.criteria.certificate import certificate, to_json
from streambound.criteria.synopsis import Synopsis
from streambound.criteria.verdict import Decision
from streambound.criteria.vocabulary import Verdict
from streambound.recheck.certificates.report import proof_of


def plain(found: QueryBound, distinct: bool) -> dict[str, Any]:
    """A bound's certificate, through JSON text."""
    document: dict[str, Any] = json.loads(json.dumps(to_json(certificate(found, distinct))))
    return document


def rejections(decision: Decision, found: QueryBound) -> tuple[str, ...]:
    """Why `recheck` does not accept the certificate of a bound for a query."""
    return proof_of(decision.derivation, plain(found, decision.query.distinct)).faults


def assert_certified(decision: Decision) -> None:
    """A bounded query has a certificate, which is accepted; only a query of too many tables may lack it."""
    if decision.verdict is Verdict.BOUNDED:
        found = bound(decision.derivation.split)
        assert found is not None or _too_wide(decision), "bounded, and no bound is known"
        assert found is None or not (reasons := rejections(decision, found)), reasons


def _too_wide(decision: Decision) -> bool:
    return any(Synopsis(Facts.of(branch)).sets is None for branch in decision.derivation.split.branches)
