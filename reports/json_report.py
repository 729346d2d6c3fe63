"""The JSON output of `check`: the objects of `reports.json_model`, whose keys are the attributes of what is reported.

Keys are stable; lines and columns are 1-based, ends exclusive.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints, is_typeddict

from streambound.analyzer.diagnostics import Fix, FixKind
from streambound.reports import json_model as model
from streambound.reports.beside import NOTHING, Beside
from streambound.reports.outcome import BoundText, Outcome
from streambound.reports.totals import counts

SCHEMA_VERSION = 3
JsonObject = dict[str, Any]


def json_report(checked: tuple[Outcome, ...], color: bool = False, beside: Beside = NOTHING) -> str:
    """All checked statements as one JSON document; ``color`` is ignored."""
    document = {
        "schema_version": SCHEMA_VERSION,
        "queries": [query_json(item) for item in checked],
        **summary_json(checked, beside),
    }
    return json.dumps(document, indent=1, ensure_ascii=False)


def summary_json(checked: tuple[Outcome, ...], beside: Beside) -> JsonObject:
    """How many statements have each verdict, and how many of them are suppressed; what the run was compared with."""
    return {
        "summary": dict(counts(checked)),
        "suppressed": sum(item.suppressed for item in checked),
        "against": _object(model.AgainstObject, beside) if beside.ref is not None else None,
        "baseline": _object(model.BaselineObject, beside) if beside.baseline is not None else None,
    }


def query_json(item: Outcome) -> JsonObject:
    """One statement."""
    return _object(model.QueryObject, item)


def _known(bound: BoundText | None) -> BoundText | None:
    """A bound that has a formula."""
    return None if bound is None or bound.formula is None else bound


def _of_fix(fix: Fix) -> JsonObject:
    """Readers know two kinds of repairs; results change for input that breaks a contract, which the note says."""
    return {"kind": FixKind.CHANGES_RESULTS, "note": fix.remarks} if fix.kind is FixKind.CONTRACT else {}


_OWN: Mapping[type, Callable[[Any], JsonObject]] = {
    model.QueryObject: lambda item: {
        "file": item.source.file,
        "bound": _known(item.bound),
        "repairs": item if item.repaired else None,
    },
    model.RepairsObject: lambda item: {"why_none": item.why_no_repair, "cut_short": item.repairs_cut_short},
    model.StateObject: lambda item: {"file": item.source.file, "bound": _known(item.bound)},
    model.AgainstObject: lambda beside: {"transitions": beside.changed},
    model.BaselineObject: lambda beside: {"file": beside.baseline},
    model.EngineObject: lambda reading: {
        "name": reading.engine,
        "version": reading.engine.version,
        "kept": reading.kept or "none",
    },
    model.EngineStateObject: lambda state: {"lifetime_us": state.lifetime},
    model.DiagnosticObject: lambda found: {"name": found.code.slug},
    model.SuppressionObject: lambda found: {"until": found.until.isoformat() if found.until else None},
    model.FixObject: _of_fix,
}
"""The values of keys for which an object has no attribute of that name, or another value."""
_IN_SPAN = ("line", "column", "end_line", "end_column")


def _object(of: type, value: Any) -> JsonObject:
    """A value as an object of the model; a text that is empty is null where that may be."""
    own = _OWN[of](value) if of in _OWN else {}
    span = getattr(value, "span", value)
    found: JsonObject = {}
    for key, inner, optional in _keys(of):
        part = own[key] if key in own else getattr(span if key in _IN_SPAN else value, key)
        if optional and part in (None, ""):
            found[key] = None
        elif inner is None or isinstance(part, Mapping):
            found[key] = part
        else:
            found[key] = [_object(inner, one) for one in part] if isinstance(part, tuple) else _object(inner, part)
    return found


@cache
def _keys(of: type) -> tuple[tuple[str, type | None, bool], ...]:
    """The keys of an object: what objects they have, if any, one or a list, and whether they may be null."""
    found = []
    for key, hint in get_type_hints(of).items():
        options = get_args(hint) if NoneType in get_args(hint) else (hint,)
        inner = get_args(options[0])[0] if get_origin(options[0]) is list else options[0]
        found.append((key, inner if is_typeddict(inner) else None, len(options) > 1))
    return tuple(found)
