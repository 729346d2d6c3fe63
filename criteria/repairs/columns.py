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
            if output.value not in culprits.attributes:
                continue
            last = len(outputs) == 1
            title = (
                f"select a constant instead of {output.value}" if last else f"drop {output.value} from the select list"
            )
            yield Change(("column",), (title,), WEIGHT + (_LAST if last else 0), (DropColumn(index),))
