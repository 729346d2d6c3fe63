"""SEQ TP in SQL: overlapping, unmatched and negating windows of rows with lineages, in a slice of time.

Papaioannou, Theobald, Böhlen, *Generalized Lineage-Aware Temporal Windows*, Section V. What is kept of a side are the
rows that are valid at the frontier, each with when its open window has begun, ``s``: since then its lineage has been
the one just before the frontier, which the rows that are kept tell. A pair's window is the time that its rows share.

Of different variables a lineage is its text ``l`` and its probability ``p``. Where a variable may be in it twice, or
rows without any value are the same fact as rows without a match, it is a formula (`lineage.encoding`) until a result
is given, and ``p`` is NULL.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from streambound_runtime.decoding.sql_types import sql_type
from streambound_runtime.engine.arrow import arrow_type
from streambound_runtime.engine.slice_rows import SliceRows
from streambound_runtime.engine.slice_tables import ENDED, SINCE, UNTIL, SliceTables
from streambound_runtime.engine.tables import BIGINT, DOUBLE, HUGEINT, VARCHAR, columns, listed, places
from streambound_runtime.lineage.encoding import decoded, encoded
from streambound_runtime.lineage.formulas import FALSE, Formula, LineageTooLargeError, quoted, variable
from streambound_runtime.lineage.probability import possible
from streambound_runtime.operators.epochs.plan import EpochJoin, EpochLineage, EpochPlan, RandomRows
from streambound_runtime.operators.values import integer
from streambound_runtime.tp.derivations import derivations
from streambound_runtime.tp.limits import Limits
from streambound_runtime.tp.padding import padded, paired
from streambound_runtime.tp.plan import WINDOWS
from streambound_runtime.tp.rows import BEGIN, END, LINEAGE, P
from streambound_runtime.tp.segments import Valid
from streambound_runtime.tp.written import as_operand

LineageOf = Callable[[Formula, Sequence[Valid]], Formula]
"""The lineage of a row and those that match it."""
_WINDOW = (("id", BIGINT), ("b", BIGINT), ("e", BIGINT), ("l", VARCHAR))
_CARRIED = ("b", "e", "l", "p")
_OF_PAIR = {f"{side}_{name}": f"{side}.{name}" for side in "lr" for name in ("id", "v", "p", "s", "blank")}


@dataclass(frozen=True, slots=True)
class SliceWindows:
    """Makes the statements of a block's windows; ``since`` are the states with an ``s``."""

    query: EpochLineage
    rows: SliceRows
    since: list[str] = field(default_factory=list)

    @property
    def tables(self) -> SliceTables:
        """Where its statements go."""
        return self.rows.tables

    @property
    def _limits(self) -> Limits:
        return Limits(self.query.nodes, self.query.time_type)

    @property
    def _told(self) -> str:
        """Whether a window up to ``e`` is given."""
        return f"(e < {UNTIL} OR {ENDED})" if self.query.final else "true"

    def results(self) -> str:
        """The rows of the result in the slice: columns, period, the text of the lineage and its probability."""
        source = self.query.plan.input
        if isinstance(source, EpochJoin):
            found = self._joined(source)
        else:
            rows = self._held(0, source)
            found = [f"SELECT {columns(len(self._values(source)))}, b, e, v AS l, p FROM {self._whole(rows)}"]
        return self._given(self.rows.mapped(self.query.plan, f"({' UNION ALL '.join(found)})", _CARRIED))

    # --- rows of the sides --------------------------------------------------------------------------------------------

    def _values(self, plan: EpochPlan) -> tuple[str, ...]:
        """The types of a side's values; after them it has key and probability."""
        return self.rows.types(plan)[:-2]

    def _held(self, side: int, plan: EpochPlan, windows: str = "") -> str:
        """The rows of a side in the slice, with numbers; ``windows`` are those of them that are wanted."""
        query, kinds = self.query, self._values(plan)
        names, found = columns(len(kinds)), self.tables.called()
        own = _variable(query.rows[side], f"c{len(kinds)}", f"c{len(kinds) + 1}")
        rows = f"SELECT {listed(names, own, 'b', 'e', 'b AS s')} FROM {self.rows.arriving(plan)}"
        if not query.parts or isinstance(query.plan.input, EpochJoin):
            # What ends with the frontier has not ended before it: what follows its last window is not known.
            valid = f"r.e >= {UNTIL} AND NOT {ENDED}" if query.final and not query.parts else f"r.e > {UNTIL}"
            since, going = "r.s" if query.final else UNTIL, ""
            if query.final and windows:
                since = f"COALESCE(g.b, {UNTIL})"
                since = f"CASE WHEN r.blank THEN {UNTIL} ELSE {since} END" if self._blank_facts else since
                going = f" LEFT JOIN (SELECT id, b FROM {windows} WHERE e = {UNTIL}) g ON r.id = g.id"
            kept = listed(columns(len(kinds), "r."), "r.v", "r.p", "r.b", "r.e", f"{since} AS s")
            types = [("v", VARCHAR), ("p", DOUBLE), ("b", BIGINT), ("e", BIGINT), ("s", BIGINT)]
            state = [*zip(places(len(kinds)), kinds, strict=True), *types]
            before = self.tables.state(state, f"SELECT {kept} FROM {found} r{going} WHERE {valid}")
            self.since.append(before)
            rows = f"SELECT * FROM {before} UNION ALL {rows}"
        blank = " AND ".join(f"c{place} IS NULL" for place in query.blanks[side]) or "true"
        numbered = f"SELECT row_number() OVER () AS id, *, {blank} AS blank, 1 AS m FROM ({rows})"
        self.tables.steps.append(self.tables.step(numbered, found))
        return found

    def _whole(self, rows: str) -> str:
        """Windows whose whole time is known: as soon as it is, once it has ended, or the part in the slice."""
        query = self.query
        if query.parts:
            return f"(SELECT * FROM {rows} WHERE b >= {SINCE})"
        if query.final:
            return f"(SELECT * FROM {rows} WHERE {self._told})"
        clipped = f"greatest(b, {SINCE}) AS b, least(e, {UNTIL}) AS e"
        return f"(SELECT * REPLACE ({clipped}) FROM {rows} WHERE e > {SINCE})"

    # --- joins --------------------------------------------------------------------------------------------------------

    @property
    def _blank_facts(self) -> bool:
        """Whether rows of either side without any value, and without a match, are one fact: those of a full join."""
        source = self.query.plan.input
        return isinstance(source, EpochJoin) and source.kind == "full"

    def _joined(self, join: EpochJoin) -> list[str]:
        wanted, outer = WINDOWS[join.kind], join.kind in ("left", "right", "full")
        windows = [self.tables.called() if one else "" for one in wanted]
        sides = [self._held(n, side, windows[n]) for n, side in enumerate((join.left, join.right))]
        pairs = self.tables.table(f"SELECT * FROM {self.rows.pairs(join, sides[0], sides[1], _OF_PAIR)}")
        # A match without any value is the same fact as none: it counts into the windows of the other side.
        folded = ["r_blank" if outer and wanted[0] else "false", "l_blank" if outer and wanted[1] else "false"]
        found = [] if join.kind == "anti" else [self._overlapping(join, pairs, folded)]
        for side in (0, 1):
            if wanted[side]:
                self._padded(side, sides[side], pairs, folded[side], windows[side])
                found.append(self._beside(join, side, sides[side], windows[side]))
        if self._blank_facts:
            found.append(self._without_values(join, sides, windows))
        return found

    def _overlapping(self, join: EpochJoin, pairs: str, folded: Sequence[str]) -> str:
        names = columns(sum(join.widths))
        rows = self._whole(f"(SELECT * FROM {pairs} WHERE NOT ({' OR '.join(folded)}))")
        if self.query.independent:
            both = "least(l_v, r_v) || ' & ' || greatest(l_v, r_v) AS l"
            return f"SELECT {names}, b, e, {both}, l_p * r_p AS p FROM {rows}"
        found = self.tables.table(f"SELECT row_number() OVER () AS id, * FROM {rows}")
        match = "[{v: r_v, p: r_p, blank: false}] AS matches"
        lineages = self._formulas(f"SELECT id, b, e, l_v AS v, l_p AS p, {match} FROM {found}", _of_pair)
        return f"SELECT {names}, f.b, f.e, w.l, NULL AS p FROM {found} f JOIN {lineages} w ON f.id = w.id"

    def _padded(self, side: int, rows: str, pairs: str, folded: str, found: str) -> None:
        """Unmatched and negating windows of a side's rows, as numbers, periods, lineages and if they are possible."""
        own, other = "lr"[side], "rl"[side]
        begin = f"CASE WHEN b < {SINCE} THEN {own}_s ELSE b END"  # since then all that began before are its matches
        match = f"{begin} AS b, least(e, {UNTIL}) AS e, {other}_v AS v, {other}_p AS p, {folded} AS blank"
        matches = self.tables.table(f"SELECT * FROM (SELECT {own}_id AS id, {match} FROM {pairs}) WHERE b < e")
        parts = f"SELECT id, s AS b, least(e, {UNTIL}) AS e FROM {rows} WHERE s < least(e, {UNTIL})"
        points = f"SELECT DISTINCT id, unnest([b, e]) AS t FROM (SELECT id, b, e FROM {matches} UNION ALL {parts})"
        spans = f"SELECT id, t AS b, lead(t) OVER (PARTITION BY id ORDER BY t) AS e FROM ({points})"
        covered = f"LEFT JOIN {matches} m ON m.id = s.id AND m.b < s.e AND s.b < m.e WHERE s.e IS NOT NULL"
        listed = "list_sort(list({v: m.v, p: m.p, blank: m.blank}) FILTER (m.v IS NOT NULL)) AS matches"
        segments = self.tables.table(f"SELECT s.id, s.b, s.e, {listed} FROM ({spans}) s {covered} GROUP BY ALL")
        segments = f"(SELECT g.*, r.v, r.p FROM {segments} g JOIN {rows} r ON g.id = r.id)"
        several = "'(' || array_to_string(list_transform(matches, lambda m: m.v), ' | ') || ')'"
        others = f"' & !' || CASE len(matches) WHEN 1 THEN matches[1].v ELSE {several} END"
        none = "COALESCE(list_product(list_transform(matches, lambda m: 1 - m.p)), 1)"
        certain = "COALESCE(list_contains(list_transform(matches, lambda m: m.p), 1.0), false)"
        made = f"v || COALESCE({others}, '') AS l, p * {none} AS p, NOT {certain} AS possible"
        written = f"SELECT id, b, e, {made} FROM {segments}"
        independent, such = self.query.independent, "true"
        if independent:
            some = [f"SELECT id FROM {one} WHERE blank" for one in (matches, rows)[: 1 + self._blank_facts]]
            such = f"id IN ({' UNION ALL '.join(some)})"
        if not independent or folded != "false":
            formulas = self._formulas(
                f"SELECT * FROM {segments} WHERE {such}", lambda row, valid: padded(row, independent, valid)
            )
            written += f" WHERE NOT {such} UNION ALL SELECT id, b, e, l, NULL, true FROM {formulas}"
        self.tables.steps.append(self.tables.step(written, found))

    def _beside(self, join: EpochJoin, side: int, rows: str, windows: str) -> str:
        """Rows of a side without a match, or with one that is negated."""
        by, more = join.widths
        shown = [f"r.c{n}" for n in range(by)] if side == 0 else [f"NULL AS c{n}" for n in range(by)]
        if join.kind != "anti":
            shown += [f"r.c{n} AS c{by + n}" if side else f"NULL AS c{by + n}" for n in range(more)]
        there = " AND NOT r.blank" if self._blank_facts else ""
        told = f"(SELECT * FROM {windows} WHERE possible AND {self._told})"
        return f"SELECT {listed(*shown, 'w.b', 'w.e', 'w.l', 'w.p')} FROM {told} w JOIN {rows} r ON w.id = r.id{there}"

    def _without_values(self, join: EpochJoin, sides: Sequence[str], windows: Sequence[str]) -> str:
        """Rows without any value on either side are one fact, whose lineage is the disjunction of theirs."""
        found, known = self.tables.called(), list[str]()
        if self.query.final:
            known.append(f"SELECT b, e, l FROM {self._open(found)}")
        for rows, own in zip(sides, windows, strict=True):
            known.append(f"SELECT w.b, w.e, w.l FROM {own} w JOIN {rows} r ON w.id = r.id AND r.blank")
        parts = self.tables.table(" UNION ALL ".join(known))
        self.tables.steps.append(partial(self._derive, parts, found))
        nothing = (f"NULL AS c{n}" for n in range(sum(join.widths)))
        return f"SELECT {listed(*nothing, 'b', 'e', 'l', 'NULL AS p')} FROM {found} WHERE {self._told}"

    def _open(self, found: str) -> str:
        """What may go on of a fact that is made anew in each slice."""
        return self.tables.state([*_WINDOW[1:]], f"SELECT b, e, l FROM {found} WHERE e = {UNTIL} AND NOT {ENDED}")

    # --- formulas -----------------------------------------------------------------------------------------------------

    def _formulas(self, source: str, lineage: LineageOf) -> str:
        """Lineages as formulas; neighbours of one number with the same one are one window."""
        rows, found = self.tables.table(source), self.tables.called()
        self.tables.steps.append(partial(self._make, rows, found, lineage))
        return found

    def _make(self, rows: str, found: str, lineage: LineageOf) -> None:
        made = list[list[object]]()
        last, ends = FALSE, (0, 0)
        if self.tables.session.size(rows):
            for one in self.tables.session.read(f"SELECT * FROM {rows} ORDER BY id, b").to_pylist():
                matches = one["matches"] or ()
                valid = [Valid(0, 0, variable(match["v"], match["p"]), match["blank"]) for match in matches]
                formula = lineage(variable(one["v"], one["p"]), valid)
                if made and formula == last and ends == (one["id"], one["b"]):
                    made[-1][2] = one["e"]
                elif formula is not FALSE:
                    made.append([one["id"], one["b"], one["e"], encoded(formula)])
                last, ends = formula, (one["id"], one["e"])
        self._put(found, _WINDOW, made)

    def _derive(self, parts: str, found: str) -> None:
        """The disjunction of lineages that hold together; neighbours that are equivalent are one."""
        import pyarrow as pa

        made = list[pa.RecordBatch]()
        if self.tables.session.size(parts):
            shown = f"b AS {BEGIN}, e AS {END}, l AS {LINEAGE}, CAST(NULL AS DOUBLE) AS {P}"
            rows = self.tables.session.read(f"SELECT {shown} FROM {parts} ORDER BY b")
            made += as_operand((), derivations((), self._limits, iter(rows.to_batches())))
        table = pa.Table.from_batches(made).drop_columns(P).rename_columns(["b", "e", "l"]) if made else None
        self.tables.session.put(found, _WINDOW[1:], table)

    # --- results ------------------------------------------------------------------------------------------------------

    def _given(self, rows: str) -> str:
        """Rows with texts and probabilities, without those that no possible world has."""
        kinds = self.rows.types(self.query.plan)
        numbered = self.tables.table(f"SELECT row_number() OVER () AS id, * FROM {rows}")
        found = self.tables.called()
        self.tables.steps.append(partial(self._chances, numbered, found, kinds))
        shown = listed(columns(len(kinds)), "b", "e", "COALESCE(f.l, n.l) AS l", "COALESCE(f.p, n.p) AS p")
        there = "n.p IS NOT NULL OR f.p IS NOT NULL"
        return f"(SELECT {shown}, 1 AS m FROM {numbered} n LEFT JOIN {found} f ON n.id = f.id WHERE {there})"

    def _chances(self, rows: str, found: str, kinds: Sequence[str]) -> None:
        made, limits = list[tuple[int, str, float]](), self._limits
        if self.tables.session.size(rows):
            names = (f"CAST({name} AS DECIMAL(38, 0)) AS {name}" if kind == HUGEINT else name
                     for name, kind in zip(places(len(kinds)), kinds, strict=True))  # fmt: skip
            shown = listed("id", "b", "e", "l", *names)
            for one in self.tables.session.read(f"SELECT {shown} FROM {rows} WHERE p IS NULL").to_pylist():
                formula = decoded(one["l"])
                try:
                    p = possible(formula, limits.nodes)
                except LineageTooLargeError as error:
                    fact = [one[name] for name in places(len(kinds))]
                    raise limits.error(error, fact, integer(one["b"]), integer(one["e"])) from error
                if p is not None:
                    made.append((one["id"], formula.text, p))
        self._put(found, [("id", BIGINT), ("l", VARCHAR), ("p", DOUBLE)], made)

    def _put(self, found: str, known: Sequence[tuple[str, str]], rows: Sequence[Sequence[object]]) -> None:
        import pyarrow as pa

        given = zip(known, zip(*rows, strict=True), strict=True) if rows else ()
        columns = {name: pa.array(values, arrow_type(kind)) for (name, kind), values in given}
        self.tables.session.put(found, known, pa.table(columns) if rows else None)


def _of_pair(row: Formula, valid: Sequence[Valid]) -> Formula:
    return paired(row, valid[0].lineage, independent=False)


def _variable(rows: RandomRows, key: str, p: str) -> str:
    """The name of a row's variable and its probability, from the columns of its key and of that."""
    return f"{variable_sql(rows.relation, key, rows.key)} AS v, {chance_sql(p, rows.probability)} AS p"


def variable_sql(relation: str, key: str, kind: str) -> str:
    """The name of the variable of a row, as `lineage.formulas.variable_name` has it."""
    text = key_sql(key, kind)
    escaped = f"""'"' || replace({text}, '"', '""') || '"'"""
    name = f"CASE WHEN regexp_full_match({text}, '[A-Za-z0-9_]+') THEN {text} ELSE {escaped} END"
    prefix = quoted(relation).replace("'", "''")
    return f"'{prefix}.' || {name}"


def key_sql(key: str, kind: str) -> str:
    """The text that Spark casts a key of a type to, in UTC; of floating point none, which depends on Java's version."""
    found = sql_type(kind)
    match found.family:
        case "boolean":
            return f"CASE WHEN {key} THEN 'true' ELSE 'false' END"
        case "date":
            return f"CAST(DATE '1970-01-01' + CAST({key} AS INT) AS VARCHAR)"
        case "timestamp":
            return f"CAST(make_timestamp({key}) AS VARCHAR)"
        case "decimal" if found.scale:
            one, whole = 10**found.scale, f"abs({key})"
            digits = f"lpad(CAST({whole} % {one} AS VARCHAR), {found.scale}, '0')"
            return f"CASE WHEN {key} < 0 THEN '-' ELSE '' END || {whole} // {one} || '.' || {digits}"
    return f"CAST({key} AS VARCHAR)"


def chance_sql(p: str, kind: str) -> str:
    """The probability that a column of a type has, by its shortest decimal text."""
    if kind.startswith("decimal("):
        return f"CAST({p} || 'e-{sql_type(kind).scale}' AS DOUBLE)"
    return f"CAST(CAST(CAST({p} AS FLOAT) AS VARCHAR) AS DOUBLE)" if kind == "float" else p
