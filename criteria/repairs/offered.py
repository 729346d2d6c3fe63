"""The repairs that a rejected statement is reported with."""

from __future__ import annotations

from dataclasses import replace

from streambound.analyzer.codes import Severity
from streambound.criteria.check import Checked
from streambound.criteria.repairs.repair import QUICK, THOROUGH, repair


def with_repairs(item: Checked, thorough: bool = False) -> Checked:
    """A rejected statement with its repairs, which are the fixes of its first error; all of them when thorough."""
    if not item.rejected or item.catalog is None:
        return item
    repairs = repair(item.statement, item.catalog, THOROUGH if thorough else QUICK)
    diagnostics = list(item.diagnostics)
    first = next((i for i, found in enumerate(diagnostics) if found.severity is Severity.ERROR), None)
    if first is not None:
        diagnostics[first] = replace(diagnostics[first], fixes=repairs.fixes)
    return replace(item, repairs=repairs, diagnostics=tuple(diagnostics))
