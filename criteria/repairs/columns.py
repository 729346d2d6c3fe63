"""``SELECT T.a, S.b  ->  SELECT S.b``: the culprit dropped from the select list."""

from __future__ import annotations

from collections.abc import Iterator

from streambound.analyzer.query import TimeValue
from streambound.criteria.repairs.rejected import Rejected
from streambound.criteria.repairs.steps import Change, DropColumn

WEIGHT = 70
_LAST = 5


def columns(rejected: Rejected) -> Iterator[Change]:
    """One column of the select list, of every branch of a union."""
    for culprits in rejected.culprits:
        outputs = culprits.branch.outputs
        for index, output in enumerate(outputs):
            times = output.value.attributes if isinstance(output.value, TimeValue) else ()
            shown = [attribute for attribute in output.attributes if attribute in culprits.attributes]
            if not shown and not {*times} & {*culprits.times}:
                continue
            last = len(outputs) == 1
            what = output.name if times else str(shown[0])
            title = f"select a constant instead of {what}" if last else f"drop {what} from the select list"
            yield Change(("column",), (title,), WEIGHT + (_LAST if last else 0), (DropColumn(index),))
