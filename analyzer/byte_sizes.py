"""Numbers of bytes as people write them: ``2 GB``."""

from __future__ import annotations

import re
from decimal import ROUND_CEILING, Context, Decimal

_UNITS = {"B": 1, "kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "PB": 10**15}
_BINARY = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50}
PATTERN = rf"^([0-9]+(?:\.[0-9]+)?) ?({'|'.join(_UNITS | _BINARY)})$"
"""A size in bytes, as a regular expression."""
_DIGITS = 2


def parse_bytes(text: str) -> int | None:
    """The bytes that a text says; None where it says none.

    >>> parse_bytes("2 GB"), parse_bytes("1.5KiB"), parse_bytes("2 gigs")
    (2000000000, 1536, None)
    """
    found = re.fullmatch(PATTERN, text)
    return None if found is None else int(Decimal(found[1]) * (_UNITS | _BINARY)[found[2]])


def bytes_text(number: int) -> str:
    """A number of bytes, rounded up to two digits.

    >>> bytes_text(512), bytes_text(5_150), bytes_text(128_500), bytes_text(999_999), bytes_text(10**30)
    ('512 B', '5.2 kB', '130 kB', '1 MB', '1e+30 B')
    """
    if number < _UNITS["kB"]:
        return f"{number} B"
    rounded = Context(prec=_DIGITS, rounding=ROUND_CEILING, Emax=10**9).create_decimal(number)
    if rounded >= 1000 * _UNITS["PB"]:
        return f"{rounded.normalize():e} B"
    unit = max((one for one in _UNITS if one != "KB" and _UNITS[one] <= rounded), key=_UNITS.__getitem__)
    return f"{(rounded / _UNITS[unit]).normalize():f} {unit}"
