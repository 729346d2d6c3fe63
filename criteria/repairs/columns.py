"""``SELECT T.a, S.b  ->  SELECT S.b``: the culprit dropped from the select list."""

from __future__ import annotations

from collections.abc import Iterator

from streambound.criteria.repairs.rejected import Rejected
from streambound.criteria.repairs.steps import Change, DropColumn

WEIGHT = 70
_LAST = 5


def columns(rejected: Rejected) -> Iterator[Change]:
    """One column of the select list, of every branch of a union."""
    for culprits in rejected.culprits:
        outputs = culprits.branch.outputs
        for index, output in enumerate(outputs):
            shown = [attribute for attribute in output.attributes if attribute in culprits.attributes]
            if not shown:
                continue
            last = len(outputs) == 1
            title = f"select a constant instead of {shown[0]}" if last else f"drop {shown[0]} from the select list"
            yield Change(("column",), (title,), WEIGHT + (_LAST if last else 0), (DropColumn(index),))
