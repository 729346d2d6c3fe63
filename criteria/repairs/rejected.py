"""A rejected statement as the rules of repairs see it: what is to blame, what each SELECT reads, and its text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace
from sqlglot import exp
from sqlglot.errors import ParseError

from streambound.analyzer.catalog import Catalog
from streambound.analyzer.codes import Code
from streambound.analyzer.diagnostics import FixKind
from streambound.analyzer.edits import Edit, applied
from streambound.analyzer.errors import CatalogError
from streambound.analyzer.expressions.dialect import parsed
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statement import Statement
from streambound.analyzer.statements import split_statements
from streambound.analyzer.work import STATEMENT, share
from streambound.criteria.check import Checked, unproved
from streambound.criteria.repairs.catalog_patch import Declaration, declared_edits, with_declared
from streambound.criteria.repairs.layout import Layout
from streambound.criteria.repairs.scopes import FromItem, SelectScope, select_scopes
from streambound.criteria.violation import Violation
from streambound.criteria.vocabulary import Verdict

MOST = STATEMENT // 8
"""Steps of work that one changed statement is given."""
_JUDGED = (Verdict.BOUNDED, Verdict.UNKNOWN, Verdict.UNBOUNDED, Verdict.UNSUPPORTED)


class Change(Struct, frozen=True):
    """A candidate: how the text of a statement, or what the catalog declares, would change.

    ``weight`` ranks: the less, the more likely an engineer would do it. ``effect`` is what becomes of the results of
    some input; ``note`` says what it means, and which of its numbers are an example.
    """

    kind: str
    title: str
    weight: int
    edits: tuple[Edit, ...] = ()
    declared: tuple[Declaration, ...] = ()
    note: str = ""
    effect: FixKind = FixKind.CHANGES_RESULTS


class Rejected(Struct, frozen=True, dict=True):
    """A statement that is not bounded as it stands; what it becomes may be, or is rejected, too."""

    statement: Statement
    catalog: Catalog
    checked: Checked
    steps: int = 1
    """What its analysis took."""

    @classmethod
    def of(cls, statement: Statement, catalog: Catalog) -> Rejected | None:
        """A statement as it is judged; None where it means nothing, or that is too much work to find."""
        checked: Checked | None = None
        with share(MOST) as taken:
            checked = unproved(statement, catalog)
        if checked is None or checked.verdict not in _JUDGED or checked.tree is None:
            return None
        return cls(statement, catalog, checked, int(taken.steps))

    @property
    def is_bounded(self) -> bool:
        """Whether there is nothing to repair."""
        return self.checked.verdict is Verdict.BOUNDED

    @property
    def violations(self) -> tuple[Violation, ...]:
        """The violations of the states that grow."""
        if self.checked.decision is not None:
            return self.checked.decision.criteria[0].violations
        return self.checked.circuit.violations if self.checked.circuit is not None else ()

    @property
    def never_true(self) -> int:
        """How many conditions can never hold: a repair that makes more contradicts the query."""
        return sum(one.code in (Code.NEVER_TRUE, Code.NEVER_TRUE_ALTERNATIVE) for one in self.checked.diagnostics)

    def after(self, change: Change) -> Rejected | None:
        """The statement after a change; None where it is no statement then, or contradicts itself."""
        declared = declared_edits(change.declared, self.catalog)
        if declared is None or not (declared or change.edits):
            return None
        try:
            catalog = with_declared(change.declared, declared, self.catalog)
            statement = _edited(self.statement, change.edits, catalog)
        except (ValueError, CatalogError):
            return None
        found = None if statement is None else Rejected.of(statement, catalog)
        return None if found is None or found.never_true > self.never_true else found

    @property
    def syntax(self) -> exp.Expr:
        """The statement's syntax."""
        assert self.statement.tree is not None, "it is judged"
        return self.statement.tree

    @cached_property
    def layout(self) -> Layout:
        """The statement's text."""
        return Layout(self.statement)

    @cached_property
    def scopes(self) -> tuple[SelectScope, ...]:
        """The scope of each SELECT, outer ones first."""
        assert self.checked.tree is not None, "it is judged"
        return select_scopes(self.syntax, self.checked.tree, self.catalog)

    @cached_property
    def blamed(self) -> tuple[tuple[SelectScope, FromItem, int], ...]:
        """The columns that are to blame, by their places in what a FROM names: those that a state has any values of."""
        found = dict[tuple[int, int, int], tuple[SelectScope, FromItem, int]]()
        for alias, name in self._names:
            for scope in self.scopes:
                for item in scope.items:
                    for place, column in enumerate(item.view.schema):
                        if alias in ("", item.alias.lower()) and column.called(name) and not column.time:
                            found.setdefault((id(scope), id(item), place), (scope, item, place))
        return tuple(found.values())

    @property
    def _names(self) -> Iterator[tuple[str, str]]:
        """The aliases and columns to blame: of what is computed, the columns that it is computed of."""
        for one in self.violations:
            if one.attribute:
                yield one.stream.lower(), one.attribute
                yield from (((c.table or one.stream).lower(), c.name) for c in _columns(one.attribute))

    def with_conditions(self, added: Iterable[tuple[SelectScope, tuple[FromItem, ...], str]]) -> tuple[Edit, ...]:
        """Conditions on rows of some items, each where a SELECT says what they satisfy; none if one has no place."""
        return self.layout.conditions([(_place(scope, items), text) for scope, items, text in added])


def _columns(computed: str) -> Iterator[exp.Column]:
    """The columns that an expression, or a list of some, reads; none of a name that is not SQL as it stands."""
    try:
        return parsed(f"({computed})").find_all(exp.Column)
    except ParseError:
        return iter(())


def _place(scope: SelectScope, items: tuple[FromItem, ...]) -> exp.Expr:
    """Where a condition on rows of items belongs: the ON of the join that pairs them, or the WHERE.

    Behind an outer join some of these rows are NULL, and the others are not there.
    """
    own = [item for item in scope.items if item in items]
    last = max(own, key=scope.items.index)
    after = scope.items[scope.items.index(last) + 1 :]
    padding = next((item.join for item in after if item.side in ("RIGHT", "FULL")), None)
    if last.side and not (len(items) == 1 and last.side == "RIGHT"):
        return last.join or scope.select
    paired = last.join if len(own) > 1 and last.join is not None and last.join.args.get("on") is not None else None
    return paired or padding or scope.select


def _edited(statement: Statement, edits: tuple[Edit, ...], catalog: Catalog) -> Statement | None:
    """A statement after edits of its text; None where it is no longer one. Raises ValueError when two overlap."""
    start, end = stretch(statement)
    edited = SourceText(statement.source.file, applied(statement.source.text[:end], edits)[start:])
    found = split_statements(edited, [-1] if statement.views else None, catalog.readable)
    return replace(found[0], emit=statement.emit) if len(found) == 1 else None


def stretch(statement: Statement) -> tuple[int, int]:
    """The text that a statement is read from: with the views before it, and the comment behind its last word."""
    text, end = statement.source.text, statement.span.end
    line = text[end:].split("\n", 1)[0].rstrip()
    return 0 if statement.views else statement.span.start, end + (len(line) if line.lstrip().startswith("--") else 0)
