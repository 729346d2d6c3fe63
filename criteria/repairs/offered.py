"""The repairs that a rejected statement is reported with: of joins by their derivation, else by its syntax."""

from __future__ import annotations

from dataclasses import replace

from streambound.analyzer.codes import Severity
from streambound.criteria.check import Checked
from streambound.criteria.repairs.operators.repair import numbered_keys, repair_statement
from streambound.criteria.repairs.repair import repair
from streambound.criteria.repairs.search import QUICK, THOROUGH


def with_repairs(item: Checked, thorough: bool = False) -> Checked:
    """A rejected statement with its repairs, which are the fixes of its first error; all of them when thorough."""
    if not item.rejected or item.catalog is None:
        return item
    effort = THOROUGH if thorough else QUICK
    if item.decision is None:
        repairs = repair_statement(item.statement, item.catalog, effort)
    else:
        ended = numbered_keys(item.statement, item.catalog, effort)
        repairs = repair(item.statement, item.catalog, item.decision.derivation, effort)
        if ended.fixes:
            repairs = replace(repairs, fixes=(*ended.fixes, *repairs.fixes)[: effort.repairs], why_none="")
    diagnostics = list(item.diagnostics)
    first = next((i for i, found in enumerate(diagnostics) if found.severity is Severity.ERROR), None)
    if first is not None:
        diagnostics[first] = replace(diagnostics[first], fixes=repairs.fixes)
    return replace(item, repairs=repairs, diagnostics=tuple(diagnostics))
