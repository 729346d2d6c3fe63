"""The registry of diagnostic codes. To add one: a line here, and its code raised by the pass that sees it."""

from __future__ import annotations

import os
from dataclasses import dataclass

DOCS_VARIABLE = "STREAMBOUND_DOCS"
"""The environment variable that says where the pages of the codes are on the web; without it they have no address."""


def docs_address() -> str:
    """Where the pages of the codes are, without a slash at the end; empty where nobody says so."""
    return os.environ.get(DOCS_VARIABLE, "").rstrip("/")


@dataclass(frozen=True, slots=True)
class Rule:
    """A diagnostic code, its stable name, its default severity and one sentence of meaning."""

    code: str
    name: str
    severity: str
    summary: str

    @property
    def docs(self) -> str:
        """The address of the page that explains it; empty where it has none."""
        return f"{address}/{self.code}.md" if (address := docs_address()) else ""

    @property
    def explained(self) -> str:
        """Where it is explained: the address of its page, or the command that prints it."""
        return self.docs or f"streambound explain {self.code}"

    @property
    def acceptable(self) -> bool:
        """Whether a comment or a baseline may accept it: what was not analysed cannot pass, whoever says so."""
        return self.code.startswith(("SB11", "SB15", "SB2", "SB3")) or self.code == "SB402"


RULES: tuple[Rule, ...] = (
    Rule("SB001", "syntax-error", "error", "The statement is not SQL that the parser understands."),
    Rule(
        "SB101",
        "unknown-stream",
        "error",
        "FROM names a stream or relation that the catalog does not declare.",
    ),
    Rule("SB102", "unknown-column", "error", "A column that no stream or relation in scope has."),
    Rule("SB103", "ambiguous-column", "error", "A name that fits several columns in scope."),
    Rule("SB104", "type-mismatch", "error", "A comparison of values whose types cannot be compared."),
    Rule("SB105", "duplicate-alias", "error", "Two sources in one FROM share an alias."),
    Rule("SB106", "union-mismatch", "error", "Branches of a UNION have different numbers or types of columns."),
    Rule(
        "SB107",
        "mixed-timestamps",
        "error",
        "Streams with different timestamp types, which share no time line.",
    ),
    Rule(
        "SB110",
        "unsupported",
        "error",
        "A construct outside the query language; it is reported, never guessed.",
    ),
    Rule(
        "SB111",
        "timestamp-comparison",
        "error",
        "An application timestamp compared with something that is not one.",
    ),
    Rule("SB112", "projected-timestamp", "error", "An application timestamp in the select list."),
    Rule("SB113", "mixed-union", "error", "Bag and set branches mixed in a way that has no single meaning."),
    Rule(
        "SB150",
        "never-true",
        "warning",
        "A branch whose condition is contradictory: it can never produce a row.",
    ),
    Rule("SB151", "never-true-alternative", "warning", "An alternative of an OR or IN that can never hold."),
    Rule("SB201", "unbounded-projection", "error", "A projected attribute has no bound, so its values pile up."),
    Rule(
        "SB202",
        "unbounded-join",
        "error",
        "An inequality join needs unboundedly many values of an older stream.",
    ),
    Rule(
        "SB203",
        "unbounded-equality",
        "error",
        "An equality join needs every value of an older stream, unboundedly.",
    ),
    Rule("SB204", "several-extrema", "error", "DISTINCT would need more than one maximum or minimum per key."),
    Rule(
        "SB205",
        "union-unknown",
        "error",
        "One branch of a union is unbounded; the whole may still be bounded.",
    ),
    Rule(
        "SB206",
        "self-join-unknown",
        "error",
        "A stream used twice was analysed as two; the rejection is not proved.",
    ),
    Rule("SB207", "no-witness", "error", "The criterion is violated, but nothing shows that memory must grow."),
    Rule("SB208", "large-bound", "note", "A bound that is proved, but larger than any memory."),
    Rule("SB209", "too-many-branches", "error", "OR, IN, <> and unions in FROM give more cases than are looked at."),
    Rule("SB210", "over-limit", "error", "A bound that is proved, but beyond what max-entries allows, or no number."),
    Rule("SB211", "never-past", "warning", "Rows that wait until the input ends, for a stream that promises nothing."),
    Rule("SB212", "too-much-work", "error", "A statement that is too large, or takes more work than one is given."),
    Rule("SB301", "theorem-1", "error", "With --criteria paper: a condition of the paper's Theorem 1 is violated."),
    Rule("SB302", "theorem-2", "error", "With --criteria paper: a condition of the paper's Theorem 2 is violated."),
    Rule("SB303", "paper-silent", "error", "With --criteria paper: the paper does not speak of this query."),
    Rule("SB401", "unreadable-file", "error", "A file that cannot be read, is not UTF-8 text, or holds no statement."),
    Rule("SB402", "repeated-name", "warning", "Two statements of one run have the same name."),
    Rule("SB411", "malformed-suppression", "error", "A suppression comment that cannot be read, so it allows nothing."),
    Rule("SB412", "expired-suppression", "error", "A suppression comment whose last day is over."),
    Rule("SB413", "unused-suppression", "warning", "A suppression comment that allows what is not there."),
    Rule("SB421", "got-worse", "error", "With --against: a query that passed, or was nearer to it, and is not now."),
    Rule("SB422", "bound-grew", "warning", "With --against: a bound that is greater than it was."),
    Rule("SB901", "internal-error", "error", "A defect of streambound kept it from judging the statement."),
)

RULES_BY_CODE = {rule.code: rule for rule in RULES}
