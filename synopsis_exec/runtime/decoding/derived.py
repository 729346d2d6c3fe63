"""Derived columns: what Spark is given of decoded rows, what it computes of that, and what becomes of its answer.

A row is decoded in two steps. The first knows the declared columns alone. Its good rows are given to Spark with their
types, which computes the derived columns; the second drops what is of no use then, and what could not be computed.

Spark stops a whole query where an expression raises an error. Which rows raise one is asked only then, *carefully*:
`try_add` of a date is NULL where its second argument raises one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from streambound_runtime.arrays import Integers, Mask
from streambound_runtime.decoding.contracts import broken, plain, useful
from streambound_runtime.decoding.decoder import Decoded, Place
from streambound_runtime.decoding.quoting import quoted, sql_text
from streambound_runtime.decoding.raw import in_objects, own
from streambound_runtime.decoding.reasons import computed_in_words, detail
from streambound_runtime.decoding.row_text import cut_columns
from streambound_runtime.decoding.sql_types import SqlType, nested, spark_name, sql_type
from streambound_runtime.decoding.typed_columns import TypedColumn, mentioned
from streambound_runtime.errors import usage
from streambound_runtime.operators.plan import Test
from streambound_runtime.spec import Derived, Relation, Stream, TableColumn

if TYPE_CHECKING:
    import pyarrow as pa

RowTexts = Callable[[Integers], tuple[list[str | None], list[Place]]]
"""The texts of the good rows at some places, and where these are."""


class ComputedColumns:
    """The derived columns of a stream or relation. ``first`` is the table as the first step decodes it.

    At most ``most`` bad rows are returned at a time, as by `Decoder`.
    """

    def __init__(self, table: Stream | Relation, lines: bool = False, most: int = sys.maxsize) -> None:
        self.table, self.most = table, most
        self.names = {column.name for column in table.derived}
        self.nested = {c.name: c.type for c in table.columns if c.name in mentioned(table) and _is_nested(c)}
        beside = dict(table.source.metadata) if table.source is not None and not lines else {}
        objects = lines or in_objects(table)
        self.parsed = tuple(name for name in self.nested if objects and name not in beside)
        """Those whose values are texts of JSON, which Spark reads."""
        self.first = self._first()
        self.before = [self._declared(column.when) for column in table.derived]
        self.skipped = 2 if isinstance(table, Stream) else 0
        """Columns of good rows that come before the needed ones."""

    def _first(self) -> Stream | Relation:
        table = self.table
        options = [*(option for column in table.derived for option in column.when)]
        options += table.useful if isinstance(table, Stream) else ()
        tested = {name for option in options for test in option for name in _mentioned(test)}
        read = {*table.needs, *tested, *mentioned(table)}
        used = tuple(column.name for column in table.columns if column.name in read)
        columns = tuple(
            replace(column, type=nested(column.type)) if column.name in self.nested else column
            for column in table.columns
        )
        if isinstance(table, Relation):
            return replace(table, columns=columns, needs=used, derived=())
        return replace(table, columns=columns, needs=used, useful=self._declared(table.useful), derived=())

    def _declared(self, options: Sequence[Sequence[Test]]) -> tuple[tuple[Test, ...], ...]:
        """The tests of some conjunctions that read declared columns alone."""
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
        """The table that Spark computes from no rows."""
        import pyarrow as pa

        kinds = {self.own("value", place): sql_type(column.type) for place, column in enumerate(self.table.derived)}
        values = {name: typed_values(pa.array([], kind.encoded), kind) for name, kind in kinds.items()}
        unread = {self.own("unread", place): pa.array([], pa.bool_()) for place in range(len(self.parsed))}
        return pa.table(values | unread)

    def argument_types(self) -> list[str]:
        """The columns of `arguments`, as Spark declares them."""
        kinds = {column.name: column.type for column in self.table.columns}
        types = {name: "STRING" if name in self.parsed else spark_name(kinds[name]) for name in self.first.needs}
        declared = [f"{quoted(name)} {kind}" for name, kind in types.items()]
        return [*declared, *(f"{quoted(self.own('when', place))} BOOLEAN" for place in range(len(self.before)))]

    def read(self, names: Sequence[str]) -> list[str]:
        """Columns with these names, in SQL, `arguments` among them: of texts of JSON the values, and which are none."""
        found = [quoted(name) for name in names if name not in self.parsed]
        for name in self.parsed:
            schema = sql_text(f"v {spark_name(self.nested[name])}, bad STRING")
            parsed = f"from_json({quoted(name)}, {schema}, map('columnNameOfCorruptRecord', 'bad'))"
            found += [f"{parsed}.v AS {quoted(name)}", f"{parsed}.bad IS NOT NULL AS {self._unread(name)}"]
        return found

    def passed(self, names: Sequence[str]) -> list[str]:
        """Columns with these names that are `read`, in SQL, as the second step needs them."""
        unread = {name: self._unread(name) for name in self.parsed}
        there = {name: f"{quoted(name)} IS NOT NULL OR {unread.get(name, 'false')}" for name in self.nested}
        texts = {name: f"CASE WHEN {words} THEN 1 END AS {quoted(name)}" for name, words in there.items()}
        return [texts.get(name, quoted(name)) for name in names if quoted(name) not in unread.values()]

    def _unread(self, name: str) -> str:
        return quoted(self.own("unread", self.parsed.index(name)))

    def sql(self, careful: bool) -> list[str]:
        """Spark's expressions over the columns of `read`: values, and, if ``careful``, which rows raise an error."""
        found = [self._unread(name) for name in self.parsed]
        for place, column in enumerate(self.table.derived):
            asked, value = quoted(self.own("when", place)), cast(column)
            if careful:
                fine = f"CASE WHEN {asked} THEN {_tried(column)} END"
                found.append(f"{asked} AND ({fine}) IS NULL AS {quoted(self.own('raises', place))}")
                asked = f"({fine}) IS NOT NULL"
            found.append(f"CASE WHEN {asked} THEN {value} END AS {quoted(self.own('value', place))}")
        return found

    def engine(self) -> list[str]:
        """DuckDB's expressions over `arguments`; raises JobError for those that only Spark computes."""
        for column in self.table.derived:
            if not column.engine:
                what = f"{self.table.name}: {computed_in_words(column)} is computed by Spark only"
                raise usage(f"{what}: run the job on Spark")
        return [
            f'CASE WHEN "{self.own("when", place)}" THEN {column.engine} END'
            for place, column in enumerate(self.table.derived)
        ]

    def raising(self, place: int) -> str:
        """The condition that a row raises an error by a derived column."""
        return f"{quoted(self.own('when', place))} AND {_tried(self.table.derived[place])} IS NULL"

    def own(self, name: str, place: int) -> str:
        """The name of a column beside the declared ones."""
        return own(self.table, f"{name} {place}")

    # --- what becomes of its answer -----------------------------------------------------------------------------------

    def finished(self, first: Decoded, computed: pa.Table, messages: Mapping[str, str], texts_of: RowTexts) -> Decoded:
        """The first step's result with the computed columns; ``messages`` has the error of each expression."""
        import pyarrow as pa
        from pyarrow import compute as pc

        columns, size = self._encoded(first.good), len(first.good_at)
        columns |= {name: pc.if_else(columns[name].is_valid(), 1, pa.scalar(None, pa.int64())) for name in self.nested}
        faults: dict[str, Mask] = {}
        details = np.full(size, "", dtype=object)
        for place, column in enumerate(self.table.derived):
            columns[column.name], wrong = self._values(computed, place, size)
            faults[column.name] = np.zeros(size, dtype=bool)
            for why, rows in wrong:
                faults[column.name] |= rows
                words = detail("expression", column, why=why or messages.get(column.name, _ERROR))
                details[rows & (details == "")] = words
            if faults[column.name].any():
                nothing = pa.scalar(None, columns[column.name].type)
                columns[column.name] = pc.if_else(pa.array(faults[column.name]), nothing, plain(columns[column.name]))
        rejected = self._rejected(columns, faults, size) & ~first.marks
        keep = ~rejected
        if isinstance(self.table, Stream):
            keep &= first.marks | useful(self.table.useful, columns, size)
        good = [columns[name] for name in self.table.needs]
        names = [*first.good.schema.names[: self.skipped], *self.table.needs]
        rows = pa.Table.from_arrays([*first.good.columns[: self.skipped], *good], names) if names else first.good
        bad = np.flatnonzero(rejected)
        good_rows = rows.filter(pa.array(keep)) if names else rows
        found = replace(first, good=good_rows, good_at=first.good_at[keep], marks=first.marks[keep])
        told = bad[: max(self.most - first.rejected.num_rows, 0)]
        if len(told):
            found = _with_rejected(found, first.good_at[told], details[told].tolist(), texts_of(told))
        words = details[bad[len(told) :]].tolist()
        beyond = pa.table({"detail": pa.array(words, pa.string()), "n": np.ones(len(words), dtype=np.int64)})
        return replace(found, beyond=pa.concat_tables([found.beyond, beyond], promote_options="default"))

    def _values(self, computed: pa.Table, place: int, size: int) -> tuple[pa.Array, list[tuple[str, Mask]]]:
        """A derived column, encoded, and which rows have no value, and why; without words where Spark says so."""
        column = self.table.derived[place]
        declared = TableColumn(column.name, column.type)
        found = TypedColumn(computed.column(self.own("value", place)).combine_chunks(), declared)
        wrong = [(_SAID[reason], rows) for reason, rows in broken(self.table, declared, found.values)]
        wrong.append(("it is not UTF-8", found.not_text))
        for name in (name for name in self.parsed if quoted(name).lower() in column.expression.lower()):
            unread = computed.column(self.own("unread", self.parsed.index(name))).to_numpy()
            wrong.append((detail("wrong-type", TableColumn(name, self.nested[name])), unread))
        raises = self.own("raises", place)
        if raises in computed.schema.names:
            wrong.append(("", computed.column(raises).fill_null(False).to_numpy()))
        return found.values, [(why, rows) for why, rows in wrong if rows.any()]

    def _rejected(self, columns: dict[str, pa.Array], faults: Mapping[str, Mask], size: int) -> Mask:
        """Rows that some use needs which no other test of it rules out: there it matters that there is no value."""
        rejected = np.zeros(size, dtype=bool)
        for column in self.table.derived:
            for option in column.when if faults[column.name].any() else ():
                needed = faults[column.name].copy()
                for test in option:
                    unknown = np.any(
                        [faults[name] for name in _mentioned(test) if name in faults] or [np.zeros(1, dtype=bool)],
                        axis=0,
                    )
                    needed &= unknown | useful(((test,),), columns, size)
                rejected |= needed
        return rejected

    def _encoded(self, good: pa.Table) -> dict[str, pa.Array]:
        """The declared columns of good rows by their names."""
        found = (values.combine_chunks() for values in good.columns[self.skipped :])
        return dict(zip(self.first.needs, found, strict=True))

    def _kinds(self) -> dict[str, SqlType]:
        return {column.name: sql_type(column.type) for column in self.table.columns}


_ERROR = "it raises an error"
_SAID = {"not-a-number": "it is NaN", "outside-years": "it is outside the years 1 to 9999", "out-of-range": ""}


def _is_nested(column: TableColumn) -> bool:
    return sql_type(column.type).family == "other"


def cast(column: Derived) -> str:
    """A derived column in Spark SQL."""
    return f"CAST(({column.expression}) AS {spark_name(column.type)})"


def _tried(column: Derived) -> str:
    """A date, or NULL where a derived column raises an error; a hash is not simplified without the column's value."""
    return f"try_add(DATE'1970-01-01', pmod(hash({cast(column)}), 1))"


def typed_values(values: pa.Array, kind: SqlType) -> pa.Array:
    """Encoded values with their type, as `typed_columns` encodes them."""
    import pyarrow as pa

    values = plain(values)
    match kind.family:
        case "integer" | "boolean" | "timestamp" | "float":
            return values.cast(kind.arrow)
        case "date":
            return values.cast(pa.int32()).cast(kind.arrow)
        case "decimal":
            digits = values.cast(pa.decimal128(38, 0))
            return pa.Array.from_buffers(kind.arrow, len(digits), digits.buffers(), offset=digits.offset)
    return values


def _mentioned(test: Test) -> Iterator[str]:
    yield test.left
    if test.right is not None:
        yield test.right


def _with_rejected(
    found: Decoded, at: Integers, details: list[str], known: tuple[list[str | None], list[Place]]
) -> Decoded:
    """A decoding result with more rejected rows, in the order of the raw rows."""
    import pyarrow as pa

    texts, places = known
    columns: dict[str, list[str | int | None]] = {
        "reason": ["expression"] * len(at),
        "detail": [*details],
    }
    more = cut_columns(texts)
    more |= {
        field.name: pa.array(columns.get(field.name, [known.get(field.name) for known in places]), field.type)
        for field in found.rejected.schema
        if field.name not in more
    }
    every = np.concatenate([found.rejected_at, at])
    order = np.argsort(every, kind="stable")
    rejected = pa.concat_tables([found.rejected, pa.table(more, schema=found.rejected.schema)])
    return replace(found, rejected=rejected.take(pa.array(order)), rejected_at=every[order])
