"""Derived columns: what Spark is given of decoded rows, what it computes of that, and what becomes of its answer.

A row is decoded in two steps. The first knows the declared columns alone. Its good rows are given to Spark with their
types, which computes the derived columns; the second drops what is of no use then, and what could not be computed.

Spark stops a whole query where an expression raises an error. Which rows raise one is asked only then, *carefully*:
`try_add` of a date is NULL where its second argument raises one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from streambound_runtime.decoding.contracts import broken, plain, useful
from streambound_runtime.decoding.decoder import Decoded
from streambound_runtime.decoding.kinds import Kind, kind_of
from streambound_runtime.decoding.quoting import quoted
from streambound_runtime.decoding.raw import own
from streambound_runtime.decoding.reasons import detail
from streambound_runtime.decoding.typed_columns import TypedColumn
from streambound_runtime.plan import Test
from streambound_runtime.spec import Column, Derived, Relation, Stream

if TYPE_CHECKING:
    import pyarrow as pa

Told = Callable[[Any], tuple[list[str | None], list[dict[str, Any]]]]
"""The texts of the good rows at some places, and where these are."""
_BITS = 64


class Derivation:
    """The derived columns of a stream or relation. ``first`` is the table as the first step decodes it."""

    def __init__(self, table: Stream | Relation) -> None:
        self.table = table
        self.names = {column.name for column in table.derived}
        self.first = self._first()
        self.before = [self._declared(column.when) for column in table.derived]
        self.skipped = 2 if isinstance(table, Stream) else 0
        """Columns of good rows that come before the needed ones."""

    def _first(self) -> Stream | Relation:
        table = self.table
        options = [*(option for column in table.derived for option in column.when)]
        options += table.useful if isinstance(table, Stream) else ()
        tested = {name for option in options for test in option for name in _mentioned(test)}
        said = " ".join(column.expression for column in table.derived).lower()
        used = tuple(
            column.name
            for column in table.columns
            if column.name in (*table.needs, *tested) or quoted(column.name).lower() in said
        )
        if isinstance(table, Relation):
            return replace(table, needs=used, derived=())
        return replace(table, needs=used, useful=self._declared(table.useful), derived=())

    def _declared(self, options: Sequence[Sequence[Test]]) -> tuple[tuple[Test, ...], ...]:
        """What some conjunctions say of declared columns alone."""
        found = (tuple(test for test in option if not self.names & {*_mentioned(test)}) for option in options)
        return tuple(dict.fromkeys(found))

    # --- what Spark is given ------------------------------------------------------------------------------------------

    def arguments(self, first: Decoded) -> pa.Table:
        """Good rows of the first step with their types, and whether each derived column is asked for."""
        import pyarrow as pa

        encoded, kinds = self._encoded(first.good), self._kinds()
        typed = {name: typed_values(values, kinds[name]) for name, values in encoded.items()}
        asked = {
            self.own("when", place): pa.array(useful(options, encoded, len(first.good_at)))
            for place, options in enumerate(self.before)
        }
        return pa.table(typed | asked)

    def nothing(self) -> pa.Table:
        """What Spark computes of no rows."""
        import pyarrow as pa

        kinds = {self.own("value", place): kind_of(column.type) for place, column in enumerate(self.table.derived)}
        return pa.table({name: typed_values(pa.array([], kind.encoded), kind) for name, kind in kinds.items()})

    def argument_types(self) -> list[str]:
        """The columns of `arguments`, as Spark declares them."""
        kinds = {column.name: column.type for column in self.table.columns}
        declared = [f"{quoted(name)} {spark_type(kinds[name])}" for name in self.first.needs]
        return [*declared, *(f"{quoted(self.own('when', place))} BOOLEAN" for place in range(len(self.before)))]

    def sql(self, careful: bool) -> list[str]:
        """What Spark computes of `arguments`: the values, and, carefully, which rows raise an error instead."""
        found = []
        for place, column in enumerate(self.table.derived):
            asked, value = quoted(self.own("when", place)), cast(column)
            if careful:
                fine = f"CASE WHEN {asked} THEN {_tried(column)} END"
                found.append(f"{asked} AND ({fine}) IS NULL AS {quoted(self.own('raises', place))}")
                asked = f"({fine}) IS NOT NULL"
            found.append(f"CASE WHEN {asked} THEN {value} END AS {quoted(self.own('value', place))}")
        return found

    def raising(self, place: int) -> str:
        """The condition that a row raises an error by a derived column."""
        return f"{quoted(self.own('when', place))} AND {_tried(self.table.derived[place])} IS NULL"

    def own(self, name: str, place: int) -> str:
        """The name of a column beside the declared ones."""
        return own(self.table, f"{name} {place}")

    # --- what becomes of its answer -----------------------------------------------------------------------------------

    def finished(self, first: Decoded, computed: pa.Table, words: Mapping[str, str], told: Told) -> Decoded:
        """What the first step has decoded, with Spark's answer; ``words`` say what error an expression raises."""
        import pyarrow as pa
        from pyarrow import compute as pc

        columns, size = self._encoded(first.good), len(first.good_at)
        faults: dict[str, Any] = {}
        details = np.full(size, "", dtype=object)
        for place, column in enumerate(self.table.derived):
            columns[column.name], wrong = self._values(computed, place, size)
            faults[column.name] = np.zeros(size, dtype=bool)
            for why, rows in wrong:
                faults[column.name] |= rows
                said = detail("expression", column, why=why or words.get(column.name, _ERROR))
                details[rows & (details == "")] = said
            if faults[column.name].any():
                nothing = pa.scalar(None, columns[column.name].type)
                columns[column.name] = pc.if_else(pa.array(faults[column.name]), nothing, plain(columns[column.name]))
        rejected = self._rejected(columns, faults, size)
        keep = ~rejected
        if isinstance(self.table, Stream):
            keep &= useful(self.table.useful, columns, size)
        good = [columns[name] for name in self.table.needs]
        names = [*first.good.schema.names[: self.skipped], *self.table.needs]
        rows = pa.Table.from_arrays([*first.good.columns[: self.skipped], *good], names) if names else first.good
        bad = np.flatnonzero(rejected)
        found = replace(first, good=rows.filter(pa.array(keep)) if names else rows, good_at=first.good_at[keep])
        return found if not len(bad) else _with_rejected(found, first.good_at[bad], details[bad].tolist(), told(bad))

    def _values(self, computed: pa.Table, place: int, size: int) -> tuple[pa.Array, list[tuple[str, Any]]]:
        """A derived column, encoded, and which rows have no value, and why; without words where Spark says so."""
        column = self.table.derived[place]
        declared = Column(column.name, column.type)
        found = TypedColumn(computed.column(self.own("value", place)).combine_chunks(), declared)
        wrong = [(_SAID[reason], rows) for reason, rows in broken(self.table, declared, found.values)]
        wrong.append(("it is not UTF-8", found.not_text))
        raises = self.own("raises", place)
        if raises in computed.schema.names:
            wrong.append(("", computed.column(raises).fill_null(False).to_numpy()))
        return found.values, [(why, rows) for why, rows in wrong if rows.any()]

    def _rejected(self, columns: dict[str, Any], faults: Mapping[str, Any], size: int) -> Any:
        """Rows that some use needs which no other test of it rules out: there it matters that there is no value."""
        rejected = np.zeros(size, dtype=bool)
        for column in self.table.derived:
            for option in column.when if faults[column.name].any() else ():
                needed = faults[column.name].copy()
                for test in option:
                    unknown = np.any([faults[name] for name in _mentioned(test) if name in faults] or [[False]], axis=0)
                    needed &= unknown | useful(((test,),), columns, size)
                rejected |= needed
        return rejected

    def _encoded(self, good: pa.Table) -> dict[str, pa.Array]:
        """The declared columns of good rows by their names."""
        found = (values.combine_chunks() for values in good.columns[self.skipped :])
        return dict(zip(self.first.needs, found, strict=True))

    def _kinds(self) -> dict[str, Kind]:
        return {column.name: kind_of(column.type) for column in self.table.columns}


_ERROR = "Spark raises an error"
_SAID = {"not-a-number": "it is NaN", "outside-years": "it is outside the years 1 to 9999", "out-of-range": ""}


def cast(column: Derived) -> str:
    """A derived column in Spark SQL."""
    return f"CAST(({column.expression}) AS {spark_type(column.type)})"


def _tried(column: Derived) -> str:
    """A date, or NULL where a derived column raises an error; a hash is not simplified without the column's value."""
    return f"try_add(DATE'1970-01-01', pmod(hash({cast(column)}), 1))"


def spark_type(name: str) -> str:
    """A type as Spark computes with it; texts of limited length are strings."""
    return "STRING" if kind_of(name).family == "string" else name.upper()


def typed_values(values: pa.Array, kind: Kind) -> pa.Array:
    """Encoded values with their type, as `typed_columns` encodes them."""
    import pyarrow as pa

    values = plain(values)
    match kind.family:
        case "integer":
            return values.cast(getattr(pa, f"int{kind.bits}")())
        case "boolean":
            return values.cast(pa.bool_())
        case "date":
            return values.cast(pa.int32()).cast(pa.date32())
        case "timestamp":
            return values.cast(pa.timestamp("us", None if kind.local else "UTC"))
        case "float":
            return values.cast(pa.float64() if kind.bits == _BITS else pa.float32())
        case "decimal":
            digits = values.cast(pa.decimal128(38, 0))
            kind_of_digits = pa.decimal128(kind.digits, kind.scale)
            return pa.Array.from_buffers(kind_of_digits, len(digits), digits.buffers(), offset=digits.offset)
    return values


def _mentioned(test: Test) -> Iterator[str]:
    yield test.left
    if test.right is not None:
        yield test.right


def _with_rejected(
    found: Decoded, at: Any, details: list[str], told: tuple[list[str | None], list[dict[str, Any]]]
) -> Decoded:
    """What was decoded with more rejected rows, in the order of the raw rows."""
    import pyarrow as pa

    texts, places = told
    columns: dict[str, list[Any]] = {"reason": ["expression"] * len(at), "detail": details, "row": [*texts]}
    more = {
        field.name: pa.array(columns.get(field.name, [known.get(field.name) for known in places]), field.type)
        for field in found.rejected.schema
    }
    every = np.concatenate([found.rejected_at, at])
    order = np.argsort(every, kind="stable")
    rejected = pa.concat_tables([found.rejected, pa.table(more, schema=found.rejected.schema)])
    return replace(found, rejected=rejected.take(pa.array(order)), rejected_at=every[order])
