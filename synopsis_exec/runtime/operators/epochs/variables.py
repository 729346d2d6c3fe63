"""What a stream's rows say of their random variables: the text of a key, and the probability."""

from __future__ import annotations

import struct
from datetime import datetime, timedelta
from decimal import Context, Decimal
from fractions import Fraction

from streambound_runtime.decoding.sql_types import sql_type
from streambound_runtime.operators.values import integer
from streambound_runtime.row_values import Value

_FIRST = datetime(1970, 1, 1)
_DIGITS = Context(prec=38)


def key_text(value: Value, kind: str) -> str:
    """The text that Spark casts a key of a type to, in UTC; of floating point none, as it depends on the Java version.

    >>> key_text(1, "date"), key_text(1_500_000, "timestamp"), key_text(-5, "decimal(9,2)"), key_text(1, "boolean")
    ('1970-01-02', '1970-01-01 00:00:01.5', '-0.05', 'true')
    """
    found = sql_type(kind)
    match found.family:
        case "boolean":
            return "true" if value else "false"
        case "date":
            return str((_FIRST + timedelta(days=integer(value))).date())
        case "timestamp":
            text = str(_FIRST + timedelta(microseconds=integer(value)))
            return text.rstrip("0") if "." in text else text
        case "decimal":
            return format(Decimal(integer(value)).scaleb(-found.scale, _DIGITS), "f")
    return str(value)


def chance(p: Value, kind: str) -> float:
    """The probability that a column of a type has, by its shortest decimal text.

    >>> chance(7, "decimal(2,1)"), chance(0.699999988079071, "float")
    (0.7, 0.7)
    """
    if kind.startswith("decimal("):
        return float(Fraction(integer(p), 10 ** int(kind[:-1].rpartition(",")[2])))
    assert isinstance(p, float)
    if kind != "float":
        return p
    texts = (float(f"{p:.{digits}g}") for digits in range(1, 10))
    return next((one for one in texts if struct.unpack("f", struct.pack("f", one))[0] == p), p)
