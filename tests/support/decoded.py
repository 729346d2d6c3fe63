"""What the decoder says of each row: its encoded values, the detail of a rejected one; None for no row."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa

from streambound_runtime.decoding.decoder import Decoded, Decoder
from streambound_runtime.spec import Relation, Stream


def told_of_lines(table: Stream | Relation, lines: Sequence[bytes | None], codes: bool = False) -> list[Any]:
    """Of JSON objects; a punctuation and a blank line are None."""
    raw = pa.table({"value": pa.array(lines, pa.binary())})
    return one_by_one(table, Decoder(table, lines=True).decode(raw), len(lines), codes)


def told_of_columns(table: Stream | Relation, raw: pa.Table) -> list[Any]:
    return one_by_one(table, Decoder(table).decode(raw), raw.num_rows)


def one_by_one(table: Stream | Relation, found: Decoded, size: int, codes: bool = False) -> list[Any]:
    """With ``codes`` a rejected row's reason is told, too."""
    told: list[Any] = [None] * size
    names = ["part", table.timestamp, *table.needs] if isinstance(table, Stream) else [*table.needs]
    columns = [list(map(plain, column.to_pylist())) for column in found.good.columns]
    for number, place in enumerate(found.good_at.tolist()):
        told[place] = {name: column[number] for name, column in zip(names, columns, strict=True) if name != "part"}
    for place, row in zip(found.rejected_at.tolist(), found.rejected.to_pylist(), strict=True):
        assert told[place] is None
        told[place] = f"{row['reason']}: {row['detail']}" if codes else row["detail"]
    return told


def plain(value: Any) -> Any:
    return int(value) if isinstance(value, Decimal) else value
