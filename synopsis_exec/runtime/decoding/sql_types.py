"""Types of columns by their names in Spark SQL, and how their values are encoded in Arrow."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

_FAMILIES = {
    "integer": ("tinyint", "byte", "smallint", "short", "int", "integer", "bigint", "long"),
    "boolean": ("boolean",),
    "date": ("date",),
    "timestamp": ("timestamp", "timestamp_ltz", "timestamp_ntz"),
    "float": ("float", "real", "double"),
    "decimal": ("decimal", "dec", "numeric"),
    "string": ("string", "varchar", "char", "character"),
    "nested": ("nested",),
    "list": ("list",),
}
_FAMILY = {name: family for family, names in _FAMILIES.items() for name in names}
_BITS = {"tinyint": 8, "byte": 8, "smallint": 16, "short": 16, "int": 32, "integer": 32, "float": 32, "real": 32}
_SIZE = re.compile(r"\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)")
_DIGITS = 10
_DIGITS_OF_64_BITS = 18
_MOST_DIGITS = 38

FIRST_DAY, LAST_DAY = (day.toordinal() - date(1970, 1, 1).toordinal() for day in (date.min, date.max))
FIRST_MOMENT, LAST_MOMENT = FIRST_DAY * 86_400_000_000, (LAST_DAY + 1) * 86_400_000_000 - 1
YEARS = {"date": (FIRST_DAY, LAST_DAY), "timestamp": (FIRST_MOMENT, LAST_MOMENT)}
"""What Python and Spark's text formats can hold, encoded."""


@dataclass(frozen=True, slots=True)
class SqlType:
    """A type: what values it has, of how many bits; of a decimal, how many digits, and how many of them are places; of
    a text, how many characters at most, where it says so.

    The family is integer, boolean, date, timestamp, float, decimal, string, or other: of the last, such as arrays, only
    matters that something is there, encoded as 1. Where an expression reads such a value it is, until Spark has
    computed that, of the family nested (`nested`): of JSON a text, else as it came. An array that an aggregate makes is
    of the family list, encoded as JSON of its encoded values.
    """

    name: str
    family: str
    bits: int = 64
    digits: int = _DIGITS
    scale: int = 0
    length: int | None = None

    @property
    def large(self) -> bool:
        """Whether its integers exceed 64 bits."""
        return self.family == "decimal" and self.digits > _DIGITS_OF_64_BITS

    @property
    def local(self) -> bool:
        """Whether its moments are of no time zone."""
        return self.name == "timestamp_ntz"

    @property
    def distance(self) -> bool:
        """Whether results of it are distances in time, encoded as microseconds."""
        return self.name == "interval day to second"

    @property
    def element(self) -> SqlType:
        """The type of the values in an array that an aggregate makes.

        >>> sql_type("list<decimal(9,2)>").element.scale
        2
        """
        return sql_type(self.name.partition("<")[2].removesuffix(">"))

    @property
    def encoded(self) -> pa.DataType:
        """How values are encoded: as int64, float64 or string; where integers exceed 64 bits, as `decimal128(38, 0)`.

        That holds the unscaled digits of every decimal of Spark's, which can carry and compare it.
        """
        import pyarrow as pa

        if self.large:
            return pa.decimal128(_MOST_DIGITS, 0)
        texts = dict.fromkeys(("string", "nested", "list"), pa.string())
        return {"float": pa.float64(), **texts}.get(self.family, pa.int64())

    @property
    def arrow(self) -> pa.DataType:
        """Values with their type in Arrow; of arrays and the like, and of NULL, texts."""
        import pyarrow as pa

        match self.family:
            case "integer":
                return getattr(pa, f"int{self.bits}")()
            case "float":
                return getattr(pa, f"float{self.bits}")()
            case "boolean":
                return pa.bool_()
            case "date":
                return pa.date32()
            case "timestamp":
                return pa.timestamp("us", None if self.local else "UTC")
            case "decimal":
                return pa.decimal128(self.digits, self.scale)
            case "list":
                return pa.list_(self.element.arrow)
        return pa.string()

    @property
    def ends(self) -> tuple[int, int]:
        """The least and the greatest integer that can be encoded."""
        return (1 - 10**_MOST_DIGITS, 10**_MOST_DIGITS - 1) if self.large else (-(2**63), 2**63 - 1)


def nested(name: str) -> str:
    """The name of a nested type, such as an array's, in the state."""
    return f"nested {name}"


def spark_name(name: str) -> str:
    """A type as Spark reads and computes it: texts of limited length are strings, and fields keep their names."""
    family = sql_type(name).family
    if family == "list":
        return f"ARRAY<{spark_name(sql_type(name).element.name)}>"
    return "STRING" if family == "string" else name if family == "other" else name.upper()


@cache
def sql_type(name: str) -> SqlType:
    """The type of a name in small letters.

    >>> sql_type("decimal(9,2)").scale, sql_type("tinyint").bits, sql_type("array<int>").family
    (2, 8, 'other')
    >>> sql_type("varchar(20)").length, sql_type("string").length
    (20, None)
    """
    word = re.split(r"[\s(<]", name.strip(), maxsplit=1)[0]
    family, size = _FAMILY.get(word, "other"), _SIZE.search(name)
    if family == "string" and size is not None:
        return SqlType(name, family, length=int(size[1]))
    if family != "decimal" or size is None:
        return SqlType(name, family, _BITS.get(word, 64))
    return SqlType(name, family, digits=int(size[1]), scale=int(size[2] or 0))
