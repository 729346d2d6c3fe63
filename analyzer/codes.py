"""The diagnostic codes. To add one: a member here, its page in docs/codes, and the pass that sees it raises it."""

from __future__ import annotations

import os
from enum import StrEnum

DOCS_VARIABLE = "STREAMBOUND_DOCS"
"""The environment variable that says where the pages of the codes are on the web; without it they have no address."""


def docs_address() -> str:
    """Where the pages of the codes are, without a slash at the end; empty where nobody says so."""
    return os.environ.get(DOCS_VARIABLE, "").rstrip("/")


class Severity(StrEnum):
    """How much a diagnostic weighs; only errors fail a check by default."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Code(StrEnum):
    """A diagnostic code, with its default severity and one sentence of meaning."""

    severity: Severity
    summary: str

    def __new__(cls, code: str, severity: Severity, summary: str) -> Code:
        """A member is the text of its code."""
        member = str.__new__(cls, code)
        member._value_, member.severity, member.summary = code, severity, summary
        return member

    SYNTAX_ERROR = "SB001", Severity.ERROR, "The statement is not SQL that the parser understands."
    UNKNOWN_STREAM = "SB101", Severity.ERROR, "FROM names a stream or relation that the catalog does not declare."
    UNKNOWN_COLUMN = "SB102", Severity.ERROR, "A column that no stream or relation in scope has."
    AMBIGUOUS_COLUMN = "SB103", Severity.ERROR, "A name that fits several columns in scope."
    TYPE_MISMATCH = "SB104", Severity.ERROR, "A comparison of values whose types cannot be compared."
    DUPLICATE_ALIAS = "SB105", Severity.ERROR, "Two sources in one FROM share an alias."
    UNION_MISMATCH = "SB106", Severity.ERROR, "Branches of a UNION have different numbers or types of columns."
    MIXED_TIMESTAMPS = "SB107", Severity.ERROR, "Streams with different timestamp types, which share no time line."
    NO_TIME_DOMAIN = "SB108", Severity.ERROR, "Rows at all of time, and no domain says when it begins and ends."
    UNSUPPORTED = "SB110", Severity.ERROR, "A construct outside the query language; it is reported, never guessed."
    TIMESTAMP_COMPARISON = "SB111", Severity.ERROR, "An application timestamp compared with a constant of another kind."
    PROJECTED_TIMESTAMP = (
        "SB112",
        Severity.ERROR,
        "Times in the select list that are neither a time nor a difference.",
    )
    NEVER_TRUE = "SB150", Severity.WARNING, "A branch whose condition is contradictory: it can never produce a row."
    NEVER_TRUE_ALTERNATIVE = "SB151", Severity.WARNING, "An alternative of an OR or IN that can never hold."
    NOT_READ = "SB152", Severity.WARNING, "A hint, setting or expectation that would change results, and is not read."
    UNBOUNDED_PROJECTION = "SB201", Severity.ERROR, "A column of the select list has no bound, so its values pile up."
    UNBOUNDED_JOIN = "SB202", Severity.ERROR, "An inequality join needs unboundedly many values of an older stream."
    UNBOUNDED_EQUALITY = "SB203", Severity.ERROR, "An equality join needs every value of an older stream, unboundedly."
    SEVERAL_EXTREMA = "SB204", Severity.ERROR, "DISTINCT would need more than one maximum or minimum per key."
    UNION_UNKNOWN = "SB205", Severity.ERROR, "One branch of a union is unbounded; the whole may still be bounded."
    SELF_JOIN_UNKNOWN = "SB206", Severity.ERROR, "A stream used twice was analysed as two; the rejection is not proved."
    NO_WITNESS = "SB207", Severity.ERROR, "The criterion is violated, but nothing shows that memory must grow."
    LARGE_BOUND = "SB208", Severity.NOTE, "A bound that is proved, but larger than any memory."
    TOO_MANY_BRANCHES = "SB209", Severity.ERROR, "OR, IN, <> and unions in FROM give more cases than are looked at."
    OVER_LIMIT = "SB210", Severity.ERROR, "A bound that is proved, but beyond max-entries or the budget, or no number."
    NEVER_PAST = "SB211", Severity.WARNING, "Rows that wait until the input ends, for a stream that promises nothing."
    TOO_MUCH_WORK = "SB212", Severity.ERROR, "A statement that is too large, or takes more work than one is given."
    UNBOUNDED_PERIODS = "SB213", Severity.ERROR, "Nothing says how many rows with periods are valid at a time."
    UNBOUNDED_VIEW = "SB214", Severity.ERROR, "Nothing says how many rows an operator remembers."
    ENGINE_DROPS = "SB221", Severity.ERROR, "With --engine: the engine drops results of the query as it is written."
    ENGINE_REFUSES = "SB222", Severity.ERROR, "With --engine: the engine does not run the query as it is written."
    ENGINE_GROWS = "SB223", Severity.WARNING, "With --engine: what the engine keeps for the query grows for ever."
    ENGINE_WAITS = "SB224", Severity.NOTE, "With --engine: a watermark is farther behind than rows may be late."
    THEOREM_1 = "SB301", Severity.ERROR, "With --criteria paper: a condition of the paper's Theorem 1 is violated."
    THEOREM_2 = "SB302", Severity.ERROR, "With --criteria paper: a condition of the paper's Theorem 2 is violated."
    PAPER_SILENT = "SB303", Severity.ERROR, "With --criteria paper: the paper does not speak of this query."
    UNREADABLE_FILE = "SB401", Severity.ERROR, "A file that cannot be read, is not UTF-8 text, or holds no statement."
    REPEATED_NAME = "SB402", Severity.WARNING, "Two statements of one run have the same name."
    NO_QUERY = "SB403", Severity.NOTE, "A statement that reads no stream, such as CREATE TABLE or SET."
    MALFORMED_SUPPRESSION = "SB411", Severity.ERROR, "A suppression comment that cannot be read, so it allows nothing."
    EXPIRED_SUPPRESSION = "SB412", Severity.ERROR, "A suppression comment whose last day is over."
    UNUSED_SUPPRESSION = "SB413", Severity.WARNING, "A suppression comment that allows what is not there."
    GOT_WORSE = "SB421", Severity.ERROR, "With --against: the verdict of a query is worse than it was at that commit."
    BOUND_GREW = "SB422", Severity.WARNING, "With --against: a bound that is greater than it was."
    INTERNAL_ERROR = "SB901", Severity.ERROR, "A defect of streambound kept it from judging the statement."

    @classmethod
    def named(cls, text: str) -> Code | None:
        """The code of a text; None where it is none."""
        return next((code for code in cls if code == text), None)

    @property
    def slug(self) -> str:
        """The stable name: ``unbounded-join``."""
        return self.name.lower().replace("_", "-")

    @property
    def docs(self) -> str:
        """The address of the page that explains it; empty where it has none."""
        return f"{address}/{self}.md" if (address := docs_address()) else ""

    @property
    def explained(self) -> str:
        """Where it is explained: the address of its page, or the command that prints it."""
        return self.docs or f"streambound explain {self}"

    @property
    def acceptable(self) -> bool:
        """Whether a comment or a baseline may accept it: what was not analysed cannot pass, whoever says so."""
        return self.startswith(("SB11", "SB15", "SB2", "SB3")) or self in (Code.REPEATED_NAME, Code.NO_QUERY)

    @property
    def by_engine(self) -> bool:
        """Whether only a check for an engine finds it."""
        return self.startswith("SB22")

    @property
    def criteria(self) -> str | None:
        """``exact`` or ``paper`` for what only these criteria find, so that a run by the others says nothing of it."""
        if self.startswith("SB3"):
            return "paper"
        both = (Code.TOO_MANY_BRANCHES, Code.OVER_LIMIT, Code.TOO_MUCH_WORK)
        return "exact" if self.startswith("SB2") and self not in both and not self.by_engine else None
