"""Are the cases of each branch, which have tables of their own, together the whole branch?"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from streambound.analyzer.query import Branch, Comparison, Op, Query, conjunction
from streambound.recheck.certificates.claims import ClaimedBranch as Claim
from streambound.recheck.certificates.conditions import Conditions

_OPPOSITE = {Op.LE: Op.GT, Op.GT: Op.LE, Op.LT: Op.GE, Op.GE: Op.LT}
_Path = tuple[Comparison, ...]


def case_of(split: Query, claim: Claim) -> Branch:
    """The branch with the conditions of a case."""
    return _with(split.branches[claim.branch], claim.conditions)


def incomplete(split: Query, claims: tuple[Claim, ...]) -> Iterator[str]:
    """The reasons why some result belongs to no case."""
    if {claim.branch for claim in claims} != set(range(len(split.branches))):
        yield f"the query has {len(split.branches)} branches, the certificate another number"
        return
    for number, branch in enumerate(split.branches):
        mine = [claim.conditions for claim in claims if claim.branch == number]
        conditions = [condition for case in mine for condition in case]
        known = Conditions(branch)
        if any(c.op not in _OPPOSITE or not set(c.attributes) <= known.present for c in conditions):
            yield f"a case of branch {number + 1} depends on what is no comparison of attributes that are not NULL"
        elif not _covered(branch, mine, ()):
            yield f"the cases of branch {number + 1} leave something out"


def _covered(branch: Branch, cases: list[_Path], path: _Path) -> bool:
    """Whether everything that satisfies the branch and a path of conditions satisfies those of one of the cases."""
    if any(not case for case in cases):
        return True
    if not cases:
        return Conditions(_with(branch, path)).contradictory
    condition = cases[0][0]
    return all(
        _covered(branch, [_without(case, side) for case in cases if _opposite(side) not in case], (*path, side))
        for side in (condition, _opposite(condition))
    )


def _opposite(condition: Comparison) -> Comparison:
    return replace(condition, op=_OPPOSITE[condition.op])


def _without(case: _Path, condition: Comparison) -> _Path:
    return tuple(other for other in case if other != condition)


def _with(branch: Branch, conditions: _Path) -> Branch:
    for condition in conditions:
        branch = replace(branch, where=conjunction((branch.where, condition)))
    return branch
