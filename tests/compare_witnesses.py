"""Statements that the judge that decides calls unbounded, proved by `criteria.dataflow` alone: tallies and steps.

    .venv/bin/python tests/compare_witnesses.py --cases --nexmark --seeds 20

*Lost* is what must not be: nothing is found, or the statement is judged to be bounded. Exit status 1: some are lost.
``--show places`` prints whose diagnostics stand at other places, too: ``-`` of the old judge, ``+`` of the new one.
"""

from __future__ import annotations

import sys
import time
from collections import Counter

from compare_judges import arguments, cases

from support.proofs import ComparedProof, Place, compared_proofs

LOST = ("none", "bounded")


def _places(found: ComparedProof) -> str:
    if found.places == found.old_places:
        return "the same"
    if found.places > found.old_places:
        return "more"
    return "fewer" if found.places < found.old_places else "others"


def _listed(sign: str, places: frozenset[Place]) -> str:
    return "".join(f"\n    {sign} {code} {' '.join(text.split())[:100]}" for code, text in sorted(places))


def main() -> int:
    """Prove; print what is lost and the tallies."""
    parser = arguments(__doc__ or "")
    parser.add_argument("--show", default="lost", help="what is printed: lost, or places")
    told = parser.parse_args()
    how, places, steps, began = Counter[str](), Counter[str](), [0.0, 0.0], time.monotonic()
    for kind, name, sql, catalog in cases(told):
        for found in compared_proofs(sql, catalog):
            lost = found.how in LOST
            how[f"{found.old_how} -> {found.how}"] += 1
            places[_places(found)] += 1
            steps = [steps[0] + found.old_steps, steps[1] + found.steps]
            if lost or (told.show == "places" and found.places != found.old_places):
                print(f"{found.old_how} -> {found.how} {kind} {name}: {' '.join(sql.split())}", flush=True)
                print(_listed("-", found.old_places - found.places) + _listed("+", found.places - found.old_places))
        if time.monotonic() - began > told.seconds:
            break
    print(f"proofs       {dict(how.most_common())}")
    print(f"diagnostics  {dict(places.most_common())}")
    print(f"steps        {steps[0]:,.0f} old, {steps[1]:,.0f} new   {time.monotonic() - began:.0f} s")
    return 1 if any(one.endswith(LOST) for one in how) else 0


if __name__ == "__main__":
    sys.exit(main())
