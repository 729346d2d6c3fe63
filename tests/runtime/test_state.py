"""A state as bytes: what was packed is unpacked, and any change of it is noticed."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambound_runtime.checkpoint.state import packed, unpacked
from support.profiles import MORE, examples

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(),
    lambda values: st.lists(values, max_size=3) | st.dictionaries(st.text(), values, max_size=3),
    max_leaves=8,
)
COLUMNS = st.one_of(
    st.builds(lambda v: pa.array(v, pa.int64()), st.lists(st.none() | st.integers(-(2**63), 2**63 - 1), max_size=5)),
    st.builds(lambda v: pa.array(v, pa.string()), st.lists(st.none() | st.text(), max_size=5)),
    st.builds(lambda v: pa.array(v, pa.float64()), st.lists(st.none() | st.floats(allow_nan=False), max_size=5)),
    st.builds(
        lambda v: pa.array([None if n is None else Decimal(n) for n in v], pa.decimal128(38, 0)),
        st.lists(st.none() | st.integers(1 - 10**38, 10**38 - 1), max_size=5),
    ),
)
NAMES = st.text(max_size=5)


@examples(50)
@given(st.dictionaries(st.text(), JSON, max_size=4), st.dictionaries(NAMES, st.tuples(NAMES, COLUMNS), max_size=4))
def test_what_was_packed_is_unpacked(said: dict[str, Any], columns: dict[str, tuple[str, pa.Array]]) -> None:
    tables = {name: pa.table({title: values}) for name, (title, values) in columns.items()}
    tables["in pieces"] = pa.concat_tables([pa.table({"a": [1]}), pa.table({"a": [2]})])
    tables["of no columns"] = pa.table({})
    state = unpacked(packed(said, tables))
    assert state is not None
    assert state[0] == said
    assert list(state[1]) == list(tables)
    assert all(state[1][name].equals(table) and state[1][name].schema == table.schema for name, table in tables.items())


def test_any_changed_byte_is_noticed() -> None:
    data = packed({"batch": 7}, {"t": pa.table({"a": [1, 2], "s": ["x", None]})})
    for place in range(len(data)):
        for change in (1, 32, 255)[: 1 if MORE == 1 else 3]:
            changed = bytearray(data)
            changed[place] ^= change
            assert unpacked(bytes(changed)) is None, place
        assert unpacked(data[:place]) is None and unpacked(data[:place] + data[place + 1 :]) is None
    assert unpacked(data + b"\n") is None
    assert unpacked(data) is not None


@pytest.mark.parametrize("data", [None, b"", b"\n", b"{}", b"e3b0c44298fc1c149afbf4c8996fb92427ae41e4"])
def test_what_is_no_state(data: bytes | None) -> None:
    assert unpacked(data) is None
