"""How hypothesis runs here: the same examples every time, no deadline."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, settings

MORE = int(os.environ.get("STREAMBOUND_TEST_FACTOR", "1"))
"""Set it to look further than the default run does: that many times the examples, at random, and shrunk on failure.

Shrinking a statement with its rows takes minutes, too long for a default run that says what failed anyway.
"""


def examples(number: int) -> settings:
    """Settings for a property: so many examples, fixed unless more are asked for."""
    return settings(
        max_examples=number * MORE,
        deadline=None,
        derandomize=MORE == 1,
        database=None,
        phases=(Phase.explicit, Phase.generate, *((Phase.shrink,) if MORE > 1 else ())),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    )
