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
from streambound.analyzer.relation_queries import is_static
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.certificates.quantity import Quantity
from streambound.recheck.circuits.claims import ClaimedKey, NotRecheckedError
from streambound.recheck.circuits.evidence import Evidence, Line
from streambound.recheck.circuits.trees import Names
from streambound.recheck.circuits.view import View


@dataclass(frozen=True, slots=True)
class Rules:
    """What states a tree has that Spark computes once, one that is a ``block``, and one by its topmost operator.

    Each rule is given the tree with its own operator on top.
    """

    static: Rule
    block: Rule
    operators: Mapping[type[Tree], Rule]


@dataclass
class States:
    """One statement, while its states are looked for; what each must be goes to the ``evidence``.

    ``needed`` are the columns that the SELECT above reads, None for all; ``limits`` the greatest ranks that are asked
    for, by the identity of the call; ``relations`` those that change, each of which is one state.
    """

    rules: Rules
    catalog: Catalog
    blocks: BlockReader
    evidence: Evidence
    needed: Names | None = None
    limits: dict[int, int] = field(default_factory=dict)
    relations: dict[str, Quantity] = field(default_factory=dict)
    open_keys: set[str] = field(default_factory=set)

    def of(self, tree: Tree) -> View:
        """The states of a tree, those of its inputs first, from left to right."""
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

    @contextmanager
    def tried(self) -> Iterator[None]:
        """What is found out inside leaves nothing behind."""
        before = dict(self.relations), set(self.open_keys), self.needed
        with self.evidence.tried():
            try:
                yield
            finally:
                self.relations, self.open_keys, self.needed = before

    def either(self, rule: Callable[[], View], other: Callable[[], View]) -> View:
        """The states of a rule, or of another one, if the certificate has those and not the first one's."""
        try:
            with self.tried():
                rule()
        except (RejectedError, NotRecheckedError) as error:
            try:
                return other()
            except (RejectedError, NotRecheckedError):
                raise error from None
        return rule()

    def line(
        self, proposition: str, keys: tuple[ClaimedKey, ...] | tuple[str, ...], entries: Quantity, lifetime: str
    ) -> None:
        """What the next line that is no table's must say."""
        named = tuple(ClaimedKey(key, None) if isinstance(key, str) else key for key in keys)
        self.evidence.line(Line(proposition, named, entries, lifetime))


Rule = Callable[[Any, States], View]
"""The states of a tree, those of its inputs first."""
