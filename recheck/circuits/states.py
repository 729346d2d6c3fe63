"""Which states a statement beyond select-project-join needs: worked out from its SQL, operator by operator."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.nodes import Tree
from streambound.analyzer.block_queries import BlockReader
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.changes import StreamKey
from streambound.analyzer.relation_queries import is_static
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.certificates.quantity import Quantity
from streambound.recheck.circuits.claims import ClaimedKey, NotRecheckedError
from streambound.recheck.circuits.evidence import Evidence, EvidenceSaved, Line
from streambound.recheck.circuits.trees import Names
from streambound.recheck.circuits.view import View


@dataclass(frozen=True, slots=True)
class Rules:
    """What states a tree has that Spark computes once, one that is a ``block``, and one by its topmost operator.

    Each rule is given the tree with its own operator on top; that of ``each_key`` also the one that it has otherwise.
    """

    static: Rule
    block: Rule
    each_key: Callable[[Tree, Rule, States], View]
    operators: Mapping[type[Tree], Rule]


@dataclass
class States:
    """One statement, while its states are looked for; what each must be goes to the ``evidence``.

    ``needed`` are the columns that the SELECT above reads, None for all; ``limits`` the greatest ranks that are asked
    for, and ``read`` the names that are read of its rows, by the identity of the call; ``relations`` those that change,
    each of which is one state. Of streams with ``one_key`` of those that end there is one value of it.
    """

    rules: Rules
    catalog: Catalog
    blocks: BlockReader
    evidence: Evidence
    needed: Names | None = None
    limits: dict[int, int] = field(default_factory=dict)
    read: dict[int, frozenset[tuple[str, str]]] = field(default_factory=dict)
    relations: dict[str, Quantity] = field(default_factory=dict)
    open_keys: set[str] = field(default_factory=set)
    one_key: StreamKey | None = None

    def of(self, tree: Tree) -> View:
        """The states of a tree, those of its inputs first, from left to right."""
        if self.one_key is not None or not self.evidence.of_each_key or is_static(tree, self.catalog):
            return self._of(tree)
        return self.either(lambda: self._of(tree), lambda: self.rules.each_key(tree, _of, self))

    def _of(self, tree: Tree) -> View:
        if is_static(tree, self.catalog):
            return self.rules.static(tree, self)
        if is_block(tree, self.catalog):
            return self.rules.block(tree, self)
        rule = self.rules.operators.get(type(tree))
        if rule is None:
            raise NotRecheckedError(f"{type(tree).__name__} operators")
        return rule(tree, self)

    def under(self, tree: Tree, needed: Names | None) -> View:
        """The states of a tree of which other columns are read."""
        before, self.needed = self.needed, needed
        try:
            return self.of(tree)
        finally:
            self.needed = before

    def saved(self) -> Saved:
        """What is known so far."""
        return dict(self.relations), set(self.open_keys), self.needed, self.evidence.saved()

    def restore(self, saved: Saved) -> None:
        """Nothing that has been found out since is known any more."""
        self.relations, self.open_keys, self.needed, evidence = saved
        self.evidence.restore(evidence)

    @contextmanager
    def tried(self) -> Iterator[None]:
        """What is found out inside leaves nothing behind."""
        before = self.saved()
        try:
            yield
        finally:
            self.restore(before)

    def either(self, rule: Callable[[], View], other: Callable[[], View]) -> View:
        """The states of a rule, or of another one, if the certificate has those and not the first one's."""
        before = self.saved()
        try:
            return rule()
        except (RejectedError, NotRecheckedError) as error:
            self.restore(before)
            try:
                return other()
            except (RejectedError, NotRecheckedError):
                raise error from None

    def line(
        self, proposition: str, keys: tuple[ClaimedKey, ...] | tuple[str, ...], entries: Quantity, lifetime: str
    ) -> None:
        """What the next line that is no table's must say."""
        named = tuple(ClaimedKey(key, None) if isinstance(key, str) else key for key in keys)
        self.evidence.line(Line(proposition, named, entries, lifetime))


def _of(tree: Tree, states: States) -> View:
    return states.of(tree)


Saved = tuple[dict[str, Quantity], set[str], Names | None, EvidenceSaved]
Rule = Callable[[Any, States], View]
"""The states of a tree, those of its inputs first."""
