"""Spark SQL types of columns, and how their values are ordered.

A value of a *discrete* type is encoded as an integer (days for dates, microseconds for timestamps, unscaled
digits for decimals, 0/1 for booleans), so that the closure can work with integers alone.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cache

from msgspec import Struct


class Family(StrEnum):
    """Types that can be compared with each other share a family (and, for decimals, a scale)."""

    INTEGER = "integer"
    DECIMAL = "decimal"
    BOOLEAN = "boolean"
    DATE = "date"
    TIMESTAMP = "timestamp"
    FLOAT = "float"
    STRING = "string"
    OTHER = "other"


NUMERIC = frozenset({Family.INTEGER, Family.DECIMAL, Family.FLOAT})
DISCRETE = frozenset({Family.INTEGER, Family.BOOLEAN, Family.DATE, Family.TIMESTAMP})

_NAMES = {
    Family.INTEGER: ("tinyint", "byte", "smallint", "short", "int", "integer", "bigint", "long"),
    Family.BOOLEAN: ("boolean",),
    Family.DATE: ("date",),
    Family.TIMESTAMP: ("timestamp", "timestamp_ltz", "timestamp_ntz"),
    Family.FLOAT: ("float", "real", "double"),
    Family.DECIMAL: ("decimal", "dec", "numeric"),
    Family.STRING: ("string", "varchar", "char", "character"),
    Family.OTHER: ("binary", "void", "variant", "interval", "array", "map", "struct"),
}
_BITS = {"tinyint": 8, "byte": 8, "smallint": 16, "short": 16, "int": 32, "integer": 32, "float": 32, "real": 32}
_MOST_BITS = 64
_DIGITS = 38
"""The most that a decimal has."""
_RANGES = {
    "boolean": (0, 1),
    **dict.fromkeys(("tinyint", "byte"), (-(2**7), 2**7 - 1)),
    **dict.fromkeys(("smallint", "short"), (-(2**15), 2**15 - 1)),
}
_FAMILY = {name: family for family, names in _NAMES.items() for name in names}
_PATTERN = re.compile(r"([a-z_]++)(?:\s*\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)|\s*<.*>|\s++[a-z][a-z ]*)?", re.S)


class DataType(Struct, frozen=True):
    """A Spark SQL type: its name as written, its family, and a decimal's scale (None when it has none)."""

    name: str
    family: Family
    scale: int | None = None

    @property
    def discrete(self) -> bool:
        """Whether finitely many values lie between two bounds (docs/theory-bags.md, "Types").

        >>> parse_type("bigint").discrete, parse_type("decimal(9,2)").discrete, parse_type("double").discrete
        (True, True, False)
        """
        return self.family in DISCRETE or (self.family is Family.DECIMAL and self.scale is not None)

    @property
    def with_article(self) -> str:
        """The type's name in a sentence.

        >>> parse_type("int").with_article, parse_type("bigint").with_article
        ('an int', 'a bigint')
        """
        return f"{'an' if self.name[0] in 'aei' else 'a'} {self.name}"

    @property
    def precision(self) -> int:
        """The decimal digits that values of an integer or decimal type have at most.

        >>> parse_type("decimal(9,2)").precision, parse_type("decimal").precision, parse_type("int").precision
        (9, 10, 10)
        """
        return _precision(self.name, self.family is Family.INTEGER, self.bits)

    @property
    def bits(self) -> int:
        """How many bits an integer or floating-point number of the type has."""
        return _BITS.get(self.name, _MOST_BITS)

    @property
    def length(self) -> int | None:
        """The most characters of a text; None where its type does not say.

        >>> parse_type("varchar(20)").length, parse_type("string").length
        (20, None)
        """
        declared = re.search(r"\(\s*(\d+)", self.name) if self.family is Family.STRING else None
        return int(declared.group(1)) if declared else None

    @property
    def range(self) -> tuple[int, int] | None:
        """The least and the greatest value of a type that is a domain by itself (docs/theory.md); None for others.

        >>> parse_type("tinyint").range, parse_type("int").range
        ((-128, 127), None)
        """
        return _RANGES.get(re.split(r"\W", self.name, maxsplit=1)[0])

    @property
    def element(self) -> DataType | None:
        """The type of the values in an array that an aggregate makes (`list_of`); None of another type."""
        found = re.fullmatch(r"list<(.*)>", self.name, re.S)
        return parse_type(found.group(1)) if found else None

    def comparable(self, other: DataType) -> bool:
        """Whether values of the two types may be compared without a cast that changes them."""
        if Family.OTHER in (self.family, other.family):
            return False
        return self.family is other.family and self.scale == other.scale

    def wider(self, other: DataType) -> str | None:
        """The type to which Spark casts numbers of two types before it compares them; None where it has none.

        >>> parse_type("int").wider(parse_type("double")), parse_type("int").wider(parse_type("decimal(9,2)"))
        ('DOUBLE', 'DECIMAL(12, 2)')
        """
        if not {self.family, other.family} <= NUMERIC:
            return None
        if Family.FLOAT in (self.family, other.family):
            return "DOUBLE"
        scales = [one.scale or 0 for one in (self, other)]
        whole = max(one.precision - scale for one, scale in zip((self, other), scales, strict=True))
        scale = max(scales)
        return f"DECIMAL({whole + scale}, {scale})" if whole + scale <= _DIGITS else None


@cache  # every comparison asks
def _precision(name: str, whole: bool, bits: int) -> int:
    if whole:
        return len(str(2 ** (bits - 1))) + (bits == _MOST_BITS)  # 19 digits, but Spark says 20
    declared = re.search(r"\(\s*(\d+)", name)
    return int(declared.group(1)) if declared else 10


def list_of(kind: DataType) -> DataType:
    """The type of arrays that aggregates make of values of a type; a column that is read has no such type."""
    return DataType(f"list<{kind.name}>", Family.OTHER)


def parse_type(name: str) -> DataType | None:
    """The type a Spark SQL type name stands for; None when there is no such type.

    >>> parse_type("DECIMAL(9, 2)").scale, parse_type("STRUCT<userId: INT>").name
    (2, 'struct<userId: INT>')
    """
    head, nested, rest = name.partition("<")
    lowered = head.lower() + nested + rest  # the fields of structs are called in JSON as they are written
    match = _PATTERN.fullmatch(lowered.lower().strip())
    family = _FAMILY.get(match.group(1)) if match else None
    if match is None or family is None:
        return None
    if family is not Family.DECIMAL or match.group(2) is None:
        return DataType(lowered.strip(), family)
    return DataType(lowered.strip(), family, int(match.group(3) or 0))
