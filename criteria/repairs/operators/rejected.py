"""A rejected statement beyond joins as the kinds of change see it: what is to blame, and what each SELECT reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from sqlglot import exp
from sqlglot.errors import ParseError

from streambound.analyzer.catalog import Catalog
from streambound.analyzer.codes import Code
from streambound.analyzer.expressions.dialect import parsed
from streambound.analyzer.statement import Statement
from streambound.analyzer.work import STATEMENT, share
from streambound.criteria.check import Checked, unproved
from streambound.criteria.repairs.operators.scopes import FromItem, SelectScope, scopes
from streambound.criteria.repairs.operators.spots import Spot
from streambound.criteria.repairs.operators.syntax import changed_catalog, changed_syntax
from streambound.criteria.repairs.search import UNIT
from streambound.criteria.repairs.steps import AddConjunct, Step
from streambound.criteria.vocabulary import Verdict

Key = tuple[Code, str, int]
"""A violation, comparable with those of a changed statement: code, message, and which of several alike."""
MOST = STATEMENT // 8
"""Steps of work that one changed statement is given."""


@dataclass(frozen=True)
class RejectedTree:
    """A statement that is not bounded as it stands, and how many steps its analysis takes."""

    statement: Statement
    catalog: Catalog
    checked: Checked
    steps: int = 1

    @classmethod
    def of(cls, statement: Statement, catalog: Catalog) -> RejectedTree | None:
        """A statement with what is wrong with it; None where it means nothing, or that is too much work to find."""
        checked: Checked | None = None
        with share(MOST) as taken:
            checked = unproved(statement, catalog)
        meant = (Verdict.BOUNDED, Verdict.UNKNOWN, Verdict.UNBOUNDED, Verdict.UNSUPPORTED)
        if checked is None or checked.verdict not in meant:
            return None
        return cls(statement, catalog, checked, int(taken.steps))

    @cached_property
    def violations(self) -> frozenset[Key]:
        """What is wrong; empty when it is bounded."""
        if self.checked.verdict is Verdict.BOUNDED:
            return frozenset()
        told = [(one.code, one.message) for one in self.checked.diagnostics]
        seen = Counter[tuple[Code, str]]()
        found = set[Key]()
        for code, message in told:
            seen[code, message] += 1
            found.add((code, message, seen[code, message]))
        return frozenset(found)

    @property
    def warnings(self) -> int:
        """How many conditions can never hold."""
        return sum(one.code in (Code.NEVER_TRUE, Code.NEVER_TRUE_ALTERNATIVE) for one in self.checked.diagnostics)

    @property
    def work(self) -> int:
        """What one analysis takes."""
        return 1 + self.steps // UNIT

    def after(self, steps: tuple[Step, ...]) -> RejectedTree | None:
        """The statement after some steps; None where they have no place in it, or it means nothing then."""
        tree = changed_syntax(self.tree, steps)
        if tree is None:
            return None
        return RejectedTree.of(replace(self.statement, tree=tree), changed_catalog(self.catalog, steps))

    @property
    def tree(self) -> exp.Expr:
        """The statement's syntax."""
        assert self.statement.tree is not None
        return self.statement.tree

    @cached_property
    def scopes(self) -> tuple[SelectScope, ...]:
        """What each SELECT reads, outer ones first."""
        return scopes(self.tree, self.catalog)

    def blamed(self) -> Iterator[tuple[SelectScope, FromItem, str]]:
        """The columns that are to blame, each where a FROM names its stream or relation."""
        for stream, attribute in self._names:
            for scope in self.scopes:
                for item in scope.items:
                    column = item.table.column(attribute)
                    if stream in ("", item.alias.lower()) and column is not None and attribute != item.time.column:
                        yield scope, item, column.name

    @cached_property
    def _names(self) -> tuple[tuple[str, str], ...]:
        """The aliases and columns to blame: of what is computed, the columns that it is computed of."""
        circuit = self.checked.circuit
        found: list[tuple[str, str]] = []
        for one in circuit.violations if circuit is not None else ():
            if one.attribute:
                found.append((one.stream.lower(), one.attribute))
                found += (((column.table or one.stream).lower(), column.name) for column in _columns(one.attribute))
        return tuple(dict.fromkeys(found))


def _columns(computed: str) -> Iterator[exp.Column]:
    """The columns that an expression, or a list of some, reads; none of a name that is not SQL as it stands."""
    try:
        return parsed(f"({computed})").find_all(exp.Column)
    except ParseError:
        return iter(())


def condition(scope: SelectScope, items: tuple[FromItem, ...], text: str) -> AddConjunct | None:
    """A condition on rows of some items where a SELECT says what they satisfy: in an ON, or in the WHERE."""
    own = [item for item in scope.items if item in items]
    place: exp.Expr = scope.select
    if joined := _joined(scope, own, len(items) == 1):
        place = joined
    spot = Spot.of(place)
    if spot is None or not own or spot.node(scope.select.root()) is not place:
        return None
    return AddConjunct(spot, text)


def _joined(scope: SelectScope, own: list[FromItem], alone: bool) -> exp.Join | None:
    """The join in whose ON a condition belongs, since its rows are NULL, or not there, behind it."""
    last = max(own, key=scope.items.index)
    after = scope.items[scope.items.index(last) + 1 :]
    if last.side and not (alone and last.side == "RIGHT"):
        return last.join
    padding = next((item.join for item in after if item.side in ("RIGHT", "FULL")), None)
    return padding
