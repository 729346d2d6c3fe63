"""What every output format prints of a statement: plain values, without the derivation that led to them.

Formats take nothing else, so that a verdict can come from another process or from a cache.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import replace

from streambound.analyzer.codes import Severity
from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.spans import SourceText, Span
from streambound.criteria.engines.profile import EngineReading
from streambound.criteria.violation import CriterionResult
from streambound.criteria.vocabulary import Tier, Verdict

if TYPE_CHECKING:
    from streambound.criteria.bound import QueryBound
    from streambound.criteria.check import Checked
    from streambound.criteria.judged import Judged
    from streambound.criteria.size import Size

_ANY_LENGTH = "{} is a string of any length"
_OF_PERIODS = "bytes are not computed for rows with periods"
DETAILS = ("certificate", "drawings", "lto_queries", "theorems")
"""What costs time and only some formats print."""


class BoundText(Struct, frozen=True):
    """M as a formula, and as a number where the catalog gives one; both None where it takes too many tables.

    ``words`` say how long rows are kept, where this says more (`criteria.large_bound`).
    ``promises`` are those of the catalog without which there may be no bound: results that break them are left out.
    ``bytes`` is what M entries take in the job's state; where it is None, ``no_bytes`` says why.
    """

    formula: str | None = None
    entries: int | None = None
    bytes: int | None = None
    no_bytes: str = ""
    words: str = ""
    promises: tuple[str, ...] = ()


class Outcome(Struct, frozen=True):
    """One statement as it is reported.

    ``named`` is where a comment names it; ``projection`` is ``bag``, ``set``, ``snapshot`` or ``tp``; ``bound`` is
    there iff the deciding criterion holds; ``rejected`` says that a repair may help, ``repaired`` that one was looked
    for, ``why_no_repair`` why none was found, ``repairs_cut_short`` why the search ended early; ``witness`` says what
    the witness of an unbounded query keeps. ``certificate``, ``drawings`` (SVG by name), ``lto_queries`` and the
    paper's theorems among the ``criteria`` are only there if asked for; ``engine``, what an engine does with it as it
    is written, where one was named.
    ``traceback`` is that of a defect that kept the statement from being judged.
    """

    name: str
    source: SourceText
    span: Span
    verdict: Verdict
    diagnostics: tuple[Diagnostic, ...]
    named: Span | None = None
    projection: str | None = None
    criteria: tuple[CriterionResult, ...] = ()
    lto_queries: int | None = None
    tier: Tier | None = None
    bound: BoundText | None = None
    rejected: bool = False
    repaired: bool = False
    why_no_repair: str = ""
    repairs_cut_short: str = ""
    witness: Mapping[str, Any] | None = None
    certificate: Mapping[str, Any] | None = None
    drawings: Mapping[str, str] = field(default_factory=dict)
    engine: EngineReading | None = None
    traceback: str = ""

    @property
    def kept_bytes(self) -> int | None:
        """The most bytes that it keeps on the engine that runs it, or else as a job; None where they are not known."""
        if self.engine is not None:
            return 0 if self.engine.refusals else self.engine.bytes
        return None if self.bound is None else self.bound.bytes

    @property
    def suppressed(self) -> bool:
        """Whether it passes a check although it is not bounded: somebody accepted each of its errors."""
        errors = [found for found in self.diagnostics if found.severity is Severity.ERROR]
        accepted = bool(errors) and all(found.suppression is not None for found in errors)
        return accepted and not self.verdict.fits

    @property
    def passes(self) -> bool:
        """Whether it passes a check that fails for errors: each is accepted, and it is bounded, or has one."""
        errors = any(one.severity is Severity.ERROR and one.suppression is None for one in self.diagnostics)
        return not errors and (self.verdict.fits or self.suppressed)


def outcome(checked: Checked, details: frozenset[str] = frozenset()) -> Outcome:
    """The report on a checked statement, with some of `DETAILS`."""
    statement, decision, repairs = checked.statement, checked.decision, checked.repairs
    plain = Outcome(
        statement.name, statement.source, statement.span, checked.verdict, checked.diagnostics, statement.named
    )
    plain = replace(
        plain,
        rejected=checked.rejected,
        repaired=repairs is not None,
        why_no_repair=repairs.why_none if repairs is not None and checked.verdict is not Verdict.UNSUPPORTED else "",
        repairs_cut_short=repairs.cut_short if repairs is not None else "",
    )
    if checked.circuit is not None:
        return replace(
            plain,
            projection=_projection(checked),
            criteria=checked.circuit.criteria,
            tier=checked.tier,
            bound=_bound(checked),
            witness=_witness(checked),
            certificate=_certificate(checked) if "certificate" in details else None,
        )
    if checked.blocks is not None:
        return replace(plain, projection=checked.blocks.projection, tier=checked.tier, bound=BoundText("0", 0, 0))
    if decision is None:
        return plain
    return replace(
        plain,
        projection=decision.query.projection,
        criteria=decision.criteria if "theorems" in details else (decision.deciding,),
        lto_queries=checked.lto_queries if "lto_queries" in details else None,
        tier=checked.tier,
        bound=_bound(checked),
        witness=_witness(checked),
        certificate=_certificate(checked) if "certificate" in details else None,
        drawings=_drawings(checked) if "drawings" in details else {},
    )


def _projection(checked: Checked) -> str:
    return "bag" if checked.blocks is None else checked.blocks.projection


def _bound(checked: Checked) -> BoundText | None:
    from streambound.analyzer.algebra.waiting_time import waiting_streams

    found = _size(checked)
    if found is None or checked.tree is None or checked.catalog is None:
        return found
    streams = {one.name: one.ttl for one in waiting_streams(checked.tree, checked.catalog)}
    return replace(found, promises=tuple(f"{name}.ttl = {ttl}" for name, ttl in sorted(streams.items())))


def _size(checked: Checked) -> BoundText | None:
    if (found := checked.circuit_bound) is not None:
        return replace(_bound_of_operators(checked.circuit, found.entries), words=_words(checked, found.entries))
    if checked.decision is None or checked.decision.verdict is not Verdict.BOUNDED:
        return None
    if checked.bound is None:
        return BoundText()
    return replace(_bound_of_joins(checked.bound), words=_words(checked, checked.bound.entries))


def _words(checked: Checked, entries: Size) -> str:
    from streambound.criteria.large_bound import rows_in_words, without_rate

    return "" if checked.catalog is None else rows_in_words(entries, without_rate(checked.catalog))


def _bound_of_operators(circuit: Judged | None, entries: Size) -> BoundText:
    from streambound.criteria.dataflow.decision import JudgedOperators
    from streambound.criteria.dataflow.state_columns import StateColumn, state_bytes
    from streambound.criteria.size import Number

    if entries == Number(0):
        return BoundText(entries.text, 0, 0)
    if not isinstance(circuit, JudgedOperators):
        return BoundText(entries.text, entries.value, None, _OF_PERIODS)
    size = state_bytes(circuit.judgement)
    if isinstance(size, StateColumn):
        return BoundText(entries.text, entries.value, None, _ANY_LENGTH.format(size.name))
    return BoundText(entries.text, entries.value, size.value)


def _bound_of_joins(found: QueryBound) -> BoundText:
    from streambound.criteria.certificate import state_bytes
    from streambound.criteria.entry_bytes import of_any_length

    formula, entries, size = found.entries.text, found.entries.value, state_bytes(found)
    if size is not None or entries == 0:
        return BoundText(formula, entries, 0 if size is None else size.value)
    texts = (
        str(one) for part in found.branches for table in part.tables for one in of_any_length(part.facts, table.layout)
    )
    return BoundText(formula, entries, None, _ANY_LENGTH.format(next(texts)))


def _witness(checked: Checked) -> Mapping[str, Any] | None:
    """The witness of an unbounded query, in short; `streambound witness` writes one of any size."""
    found = checked.decision.witness if checked.decision is not None else checked.circuit_witness
    if found is None or checked.verdict is not Verdict.UNBOUNDED:
        return None
    kept, probes = ([str(k.attribute) for k in found.plan.kept], sorted(found.plan.after))
    return {"attributes": kept, "probe_streams": probes, "replays_a_match": found.plan.replay}


def _certificate(checked: Checked) -> Mapping[str, Any] | None:
    """All that is needed to check the bound again (`criteria.certificate`)."""
    from streambound.criteria.certificate import certificate, to_json
    from streambound.criteria.dataflow.decision import JudgedOperators
    from streambound.criteria.dataflow.derivation import derivation
    from streambound.criteria.periods.certificate import period_certificate

    if checked.circuit is not None and checked.verdict is Verdict.BOUNDED:
        judged = checked.circuit
        if isinstance(judged, JudgedOperators):
            assert checked.catalog is not None, "what was decided has one"
            return derivation(judged.judgement, checked.statement, checked.catalog)
        of_states: Mapping[str, Any] = to_json(period_certificate(judged))
        return of_states
    if checked.bound is None or checked.decision is None:
        return None
    return certificate(checked.bound, checked.decision.query.distinct)


def _drawings(checked: Checked) -> Mapping[str, str]:
    """The dependency graph and the sets of streams with their tables, as SVG."""
    from streambound.analyzer.errors import UsageError
    from streambound.reports.drawings import DIAGRAMS, draw

    assert checked.decision is not None, "only decided statements are drawn"
    found = {}
    for name in DIAGRAMS:
        with suppress(UsageError):  # too large to draw
            found[name] = draw(name, "svg", checked, checked.decision)
    return found
