"""The number of entries of a family: the sum, over the sets of members that it allows, of the products of their own."""

from __future__ import annotations

from collections.abc import Sequence

from streambound.recheck.certificates.claims import ClaimedMember, RejectedError
from streambound.recheck.certificates.quantity import Quantity, product

_ONE = Quantity.number(1)
MOST = 20_000
"""Steps after which a sum is given up."""


def sum_over_sets(members: Sequence[ClaimedMember], own: Sequence[Quantity]) -> Quantity:
    """The sum over all sets but the empty and the full one; each member comes later than those that it is after.

    Raises RejectedError where that takes too long.
    """
    place = {member.streams[0]: number for number, member in enumerate(members)}
    parents = [[place[stream] for stream in member.after] for member in members]
    every = _of_forest(parents, own) if all(len(mine) <= 1 for mine in parents) else _of_order(parents, own)
    return every - product(own) - _ONE


def _of_forest(parents: list[list[int]], own: Sequence[Quantity]) -> Quantity:
    """From the last member to the first: nothing of what is after it, or it and any of these."""
    later = [_ONE] * len(own)
    roots = _ONE
    for number in reversed(range(len(own))):
        value = _ONE + own[number] * later[number]
        if parents[number]:
            later[parents[number][0]] = later[parents[number][0]] * value
        else:
            roots = roots * value
    return roots


def _of_order(parents: list[list[int]], own: Sequence[Quantity]) -> Quantity:
    """By whether some member is in, for the members of a bit mask, whose independent parts are multiplied."""
    older = [0] * len(own)
    for number, mine in enumerate(parents):
        for parent in mine:
            older[number] |= older[parent] | 1 << parent
    newer = [sum(1 << k for k, mine in enumerate(older) if mine >> number & 1) for number in range(len(own))]
    memory: dict[int, Quantity] = {0: _ONE}

    def weight(mask: int) -> Quantity:
        return product(own[number] for number in range(len(own)) if mask >> number & 1)

    def part_of(mask: int) -> int:
        part, reached = 0, mask & -mask
        while reached:
            part |= reached
            reached = mask & ~part & _union(older, newer, reached)
        return part

    def total(mask: int) -> Quantity:
        if mask not in memory:
            if len(memory) > MOST:
                raise RejectedError("its order has too many parts")
            part = part_of(mask)
            if part != mask:
                memory[mask] = total(part) * total(mask & ~part)
            else:
                inside = [number for number in range(len(own)) if mask >> number & 1]
                one = max(inside, key=lambda number: (mask & (older[number] | newer[number])).bit_count())
                taken = (1 << one) | older[one] & mask
                memory[mask] = weight(taken) * total(mask & ~taken) + total(mask & ~(1 << one | newer[one]))
        return memory[mask]

    return total((1 << len(own)) - 1)


def _union(older: list[int], newer: list[int], mask: int) -> int:
    found = 0
    for number in range(len(older)):
        if mask >> number & 1:
            found |= older[number] | newer[number]
    return found
