"""The text of the generated class `Synopsis`: tables as dictionaries, one method per branch that closes a timestamp."""

from __future__ import annotations

from streambound.analyzer.query import Attribute
from streambound.analyzer.symbols import symbol, symbols_in
from streambound.criteria.tables import Table
from streambound.criteria.ways import Part
from streambound.synopsis_exec.best import keep_best_method
from streambound.synopsis_exec.emit import WIDTH, Lines, Names, literal, spaced, tuple_text
from streambound.synopsis_exec.keeping import keep
from streambound.synopsis_exec.loops import Participant, Term, join_loops
from streambound.synopsis_exec.plan_ir import Plan
from streambound.synopsis_exec.rows import chained, rows_text
from streambound.synopsis_exec.transitions import BranchText

_MEMBERS = ("close", "entries", "tables", "dump", "load", "limit", "written")
_HEAD = '''\
NOTHING: dict[tuple, int] = {}


def grouped(counts: dict[tuple, int], *columns: int) -> dict[tuple, dict[tuple, int]]:
    """The entries of a table by the values of some columns of its keys."""
    groups: dict[tuple, dict[tuple, int]] = defaultdict(dict)
    for key, n in counts.items():
        groups[tuple(key[column] for column in columns)][key] = n
    return groups


def in_order(results: dict[tuple, int]) -> list[tuple[tuple, int]]:
    """Results in a fixed order: by value, NULL first."""
    return sorted(results.items(), key=lambda result: [(value is not None, value) for value in result[0]])
'''
_PLACED = '''

def placed(value, places: tuple):
    """The greatest of some values that is not above a value: no condition tells the two apart."""
    return max(place for place in places if place <= value)
'''
_BEFORE_CLOSE = '''\
def close(self, now: int, rows: dict[str, list[dict]]) -> list[tuple[dict, int]]:
    """The results that become true at timestamp `now`, each with its multiplicity.

    `rows` are all rows of that timestamp, by stream; timestamps are closed in order.
    """
    results: Counter[tuple] = Counter()
'''
_AFTER_CLOSE = """\
    if any(n > MOST for n in results.values()):
        raise OverflowError(f"a result at timestamp {now} has more than {MOST} duplicates")
    return [(dict(zip(COLUMNS, values)), n) for values, n in in_order(results)]
"""
_AFTER_CLOSE_SET = """\
    fresh = {values: 1 for values in results if values not in self.written}
    self.written.update(fresh)
    return [(dict(zip(COLUMNS, values)), 1) for values, _ in in_order(fresh)]
"""
_REST = '''\

def dump(self) -> dict[str, list]:
    """The tables as JSON can hold them."""
    return {name: [[list(key), n] for key, n in table.items()] for name, table in self.tables().items()}
'''


def branch_texts(plan: Plan) -> list[BranchText]:
    """The names and transitions of all branches."""
    members = Names(_MEMBERS)
    return [BranchText(plan, branch, members) for branch in plan.branches]


def kernel_text(plan: Plan, branches: list[BranchText]) -> str:
    """The kernel: module constants, two helpers and the class `Synopsis`."""
    lines = Lines()
    lines.add(f"COLUMNS = {literal(tuple(column.name for column in plan.columns))}")
    placed = _PLACED if any(branch.places for branch in branches) else ""
    lines.add(*(_HEAD + placed).splitlines(), "", "", "class Synopsis:")
    with lines.indented():
        lines.add(
            '"""What is remembered between two timestamps: partial matches, counted per value that still matters."""',
            "",
        )
        methods = Lines(depth=1)
        for branch in branches:
            _branch_method(methods, branch)
        _init(lines, plan, branches)
        lines.add("")
        lines.add(*_BEFORE_CLOSE.splitlines())
        with lines.indented():
            lines.add(*(f"self._close{branch.suffix}(now, rows, results)" for branch in branches))
        lines.add(*(_AFTER_CLOSE_SET if plan.distinct else _AFTER_CLOSE).splitlines())
        lines.lines.extend(methods.lines)
        for branch in branches:
            for table in branch.branch.tables:
                if table.extrema:
                    keep_best_method(lines, branch, table)
        _tables(lines, plan, branches)
        lines.add(*_REST.splitlines())
        _load(lines, plan, branches)
    return lines.text


# --- the start ---------------------------------------------------------------------------------------------------


def _init(lines: Lines, plan: Plan, branches: list[BranchText]) -> None:
    lines.add("def __init__(self, relations: dict[str, list[dict]]) -> None:")
    with lines.indented():
        lines.add('"""Empty tables; `relations` holds the rows of each static relation."""')
        wanted = _wanted(plan, branches)
        unknown = [s for s in wanted if s in _undeclared(plan)]
        meanings = _meanings(plan)
        lines.add(*(f"{name} = {meanings[name]}" for name in wanted if name not in unknown))
        if unknown:
            lines.comment(f"No number: it depends on what the streams will bring ({', '.join(unknown)}).")
            lines.add("self.limit: int | None = None")
        else:
            sizes = plan.bound.tables
            lines.add("self.limit: int | None = sum(" if sizes else "self.limit: int | None = 0")
            if sizes:
                with lines.indented():
                    lines.add("(")
                    with lines.indented():
                        lines.add(*(f"{spaced(size.size.text)},  # {size.table}" for size in sizes))
                    lines.add(")")
                lines.add(")")
        for branch in branches:
            lines.add(*(f"self.{name} = {spaced(text)}" for text, name in branch.limits.items()))
            for values, name in branch.places.items():
                lines.call(f"self.{name} = (", map(literal, values), ")")
        for branch in branches:
            _relations(lines, branch)
            for table in branch.branch.tables:
                name = branch.name_of(table)
                columns = ", ".join(_key_names(branch, table)) or "no columns"
                title = plan.table_name(branch.branch.number, table)
                lines.add(f"self.{name}: Counter[tuple] = Counter()  # {title}: {columns}")
                for index in branch.indexes_of(f"self.{name}"):
                    lines.add(f"{index[1]} = grouped(self.{name}, {', '.join(map(str, index[0]))})")
        if plan.distinct:
            lines.add("self.written: dict[tuple, int] = {}  # results already returned")


def _key_names(branch: BranchText, table: Table) -> list[str]:
    names = ["which streams it has"] if table.members else []
    names += [str(stored.attribute) for stored in table.key]
    names += [str(branch.branch.facts.time(age.stream)) for age in table.ages]
    return names + [extremum.name for extremum in table.extrema]


def _wanted(plan: Plan, branches: list[BranchText]) -> list[str]:
    """The symbols that the bound and the limits mention."""
    texts = [size.size.text for size in plan.bound.tables]
    texts += [text for branch in branches for text in branch.limits]
    return sorted({found for text in texts for found in symbols_in(text)})


def _undeclared(plan: Plan) -> frozenset[str]:
    """The symbols that have no value: how many tuples share a timestamp, where the catalog does not say, and the
    least and greatest value that a finite stream will bring.
    """
    rates = (symbol("c", stream.name) for stream in plan.streams if stream.max_per_timestamp is None)
    columns = [(stream.name, column.name) for stream in plan.streams for column in stream.columns]
    return frozenset([*rates, *(symbol(extreme, *column) for extreme in ("min", "max") for column in columns)])


def _meanings(plan: Plan) -> dict[str, str]:
    """Symbol -> its value as Python text, computed from the relations where the catalog does not give it."""
    meanings: dict[str, str] = {}
    for stream in plan.streams:
        meanings[symbol("c", stream.name)] = f"{stream.max_per_timestamp}  # at most that many tuples per timestamp"
    for relation in plan.relations:
        rows = f"relations[{literal(relation.name)}]"
        meanings[symbol("rows", relation.name)] = f"len({rows})"
        for column in relation.columns:
            value = f"row[{literal(column.name)}]"
            values = f"({value} for row in {rows} if {value} is not None)"
            meanings[symbol("min", relation.name, column.name)] = f"min({values}, default=0)"
            meanings[symbol("max", relation.name, column.name)] = f"max({values}, default=-1)"
    return meanings


def _relations(lines: Lines, branch: BranchText) -> None:
    """Each relation filtered; relations that are joined with each other joined once, here."""
    for group, name in branch.groups.items():
        if len(group) == 1:
            source = branch.branch.source(group[0])
            columns = [a.column for a in branch.group_columns(group)]
            rows_text(lines, f"self.{name}", source, columns, f"relations[{literal(source.table)}]", [])
        else:
            _joined(lines, branch, group, f"self.{name}")
        for columns_, index in branch.indexes_of(f"self.{name}"):
            lines.add(f"{index} = grouped(self.{name}, {', '.join(map(str, columns_))})")


def _joined(lines: Lines, branch: BranchText, group: tuple[str, ...], name: str) -> None:
    locals_ = Names(("self", "row", "relations", "grouped"))
    participants = []
    for alias in group:
        source = branch.branch.source(alias)
        counts = locals_.new(f"{alias}{branch.suffix}_rows")
        rows_text(lines, counts, source, list(source.columns), f"relations[{literal(source.table)}]", [])
        pattern = tuple(locals_.new(f"{alias}_{column}") for column in source.columns)
        values = {Attribute(alias, c): Term(v) for c, v in zip(source.columns, pattern, strict=True)}

        def index(columns: tuple[int, ...], counts: str = counts) -> str:
            return f"grouped({counts}, {', '.join(map(str, columns))})"

        participants.append(Participant(counts, pattern, locals_.new(f"{alias}_n"), values, index))
    lines.add(f"{name}: Counter[tuple] = Counter()")
    checks = tuple(j for j in branch.branch.joins if {a.source for a in j.attributes} <= set(group))
    kept = branch.group_columns(group)

    def body(values: dict[Attribute, Term], counts: list[str]) -> list[str]:
        return [f"{name}[{tuple_text([str(values[a]) for a in kept])}] += {' * '.join(counts)}"]

    lines.add(*join_loops(participants, checks, body))


# --- closing a timestamp -------------------------------------------------------------------------------------------


def _branch_method(lines: Lines, branch: BranchText) -> None:
    lines.add(
        "",
        f"def _close{branch.suffix}(self, now: int, rows: dict[str, list[dict]], results: Counter[tuple]) -> None:",
    )
    with lines.indented():
        if branch.groups:
            names = [f"self.{name}" for name in branch.groups.values()]
            lines.add(f"if not {names[0]}:" if len(names) == 1 else f"if not ({' and '.join(names)}):")
            lines.add("    return  # a relation is empty, so there are no results")
        transitions = Lines(depth=lines.depth)
        _transitions(transitions, branch)
        for alias, name in branch.arrived.items():
            source = branch.branch.source(alias)
            tests = chained(list(source.times), lambda attribute: "now")
            rows_text(
                lines,
                name,
                source,
                list(source.columns),
                f"rows.get({literal(source.table)}, ())",
                tests,
                branch,
            )
            for columns, index in branch.indexes_of(name):
                lines.add(f"{index} = grouped({name}, {', '.join(map(str, columns))})")
        if branch.growth:
            lines.add("", *branch.growth)
        lines.lines.extend(transitions.lines)
        for table in branch.branch.tables:
            keep(lines, branch, table)


def _transitions(lines: Lines, branch: BranchText) -> None:
    previous: tuple[str, ...] | None = None
    joined: set[tuple[str, ...]] = set()
    for transition, text in branch.transitions:
        lines.add("")
        if transition.target != previous and not transition.output:
            lines.add(f"{branch.new(transition.target)}: Counter[tuple] = Counter()")
        previous = transition.target
        what = "results" if transition.output else "{" + ", ".join(transition.target) + "}"
        came = " and ".join(transition.arriving) or "nothing else"
        verb = "arrive together" if len(transition.arriving) > 1 else "arrives"
        lines.comment(f"{what}: {came} {verb}{_remembered(transition.parts)}.")
        for part in (part for part in transition.parts if part.now):
            if part.streams not in joined:
                joined.add(part.streams)
                _after(lines, branch, part.streams)
        for part in (part for part in transition.parts if part.new):
            new = branch.new(part.streams)
            lines.add(*(f"{index} = grouped({new}, {', '.join(map(str, cs))})" for cs, index in branch.indexes_of(new)))
        if len(transition.arriving) > 1:
            lines.add(f"if {' and '.join(branch.arrived[alias] for alias in transition.arriving)}:")
            with lines.indented():
                lines.add(*text)
        else:
            lines.add(*text)


def _remembered(parts: tuple[Part, ...]) -> str:
    words = [", old or new," if part.now else ", new," if part.new else "" for part in parts]
    names = [f"{{{', '.join(part.streams)}}}{word}" for part, word in zip(parts, words, strict=True)]
    return f", {' and '.join(names)} {'is' if len(names) == 1 else 'are'} remembered" if names else ""


def _after(lines: Lines, branch: BranchText, streams: tuple[str, ...]) -> None:
    """A table with what is new at the timestamp, for those that are independent of whether it is."""
    name, after, new = f"self.{branch.tables[streams]}", branch.after(streams), branch.new(streams)
    lines.add(f"{after} = Counter({name})", f"{after}.update({new})")
    for columns, index in branch.indexes_of(after):
        lines.add(f"{index} = grouped({after}, {', '.join(map(str, columns))})")


# --- state ------------------------------------------------------------------------------------------------------------


def _named(plan: Plan, branches: list[BranchText]) -> list[tuple[str, str]]:
    pairs = [
        (plan.table_name(branch.branch.number, table), f"self.{branch.name_of(table)}")
        for branch in branches
        for table in branch.branch.tables
    ]
    return [*pairs, ("results", "self.written")] if plan.distinct else pairs


def _tables(lines: Lines, plan: Plan, branches: list[BranchText]) -> None:
    lines.add("", "def tables(self) -> dict[str, dict[tuple, int]]:")
    with lines.indented():
        lines.add('"""The tables by the streams whose tuples they combine: key -> number of partial matches."""')
        pairs = [f"{literal(name)}: dict({member})" for name, member in _named(plan, branches)]
        lines.call("return {", pairs, "}")
    lines.add("", "def entries(self) -> int:")
    with lines.indented():
        lines.add('"""How many entries the tables have now; never more than `limit`."""')
        sizes = [f"len({member})" for _, member in _named(plan, branches)] or ["0"]
        flat = f"return {' + '.join(sizes)}"
        if len(flat) + 4 * lines.depth <= WIDTH:
            lines.add(flat)
        else:
            lines.call("return sum([", sizes, "])", spread=True)


def _load(lines: Lines, plan: Plan, branches: list[BranchText]) -> None:
    lines.add("", "def load(self, state: dict[str, list]) -> None:")
    with lines.indented():
        lines.add('"""Take over what `dump` returned."""')
        if not _named(plan, branches):
            return
        lines.add("tables = {name: {tuple(key): n for key, n in table} for name, table in state.items()}")
        for name, member in _named(plan, branches):
            kind = "" if member == "self.written" else "Counter"
            text = f"tables[{literal(name)}]"
            lines.add(f"{member} = {kind}({text})" if kind else f"{member} = {text}")
        for branch in branches:
            for name in (*branch.tables.values(), *branch.families.values()):
                for columns, index in branch.indexes_of(f"self.{name}"):
                    lines.add(f"{index} = grouped(self.{name}, {', '.join(map(str, columns))})")
