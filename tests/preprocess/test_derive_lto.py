"""LTO derivation: Definition 6, disjointness and completeness over a box, laziness, and the count."""

from collections.abc import Iterator
from itertools import islice, pairwise, product

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from streambound.analyzer.catalog import Kind, parse_catalog
from streambound.analyzer.closure import Sort, close
from streambound.analyzer.difference_bounds import DifferenceBounds
from streambound.analyzer.lower import lower
from streambound.analyzer.query import Attribute, Branch, Comparison, Op
from streambound.analyzer.render import render_branch
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statements import split_statements
from streambound.preprocess.count_lto import count_lto, weak_orders
from streambound.preprocess.derive_lto import derive_lto
from streambound.preprocess.pipeline import derive
from support.cases import Case, query_of, read_cases

EIGHT = ", ".join(f'a{j} = "bigint"' for j in range(8))
WIDE = parse_catalog(
    "".join(f'[streams.S{i}]\ntimestamp = "ts"\ncolumns = {{ {EIGHT}, ts = "bigint" }}\n' for i in range(10))
)


def branches(sql: str) -> tuple[Branch, ...]:
    return derive(query_of(sql)).renamed.branches


def wide(where: str) -> Branch:
    columns = ", ".join(f"S{i}.a{j}" for i in range(10) for j in range(8))
    sql = f"SELECT {columns} FROM {', '.join(f'S{i}' for i in range(10))}{where}"
    (statement,) = split_statements(SourceText("q.sql", sql))
    query = lower(statement, WIDE).query
    assert query is not None
    (branch,) = derive(query).renamed.branches
    return branch


def described(sql: str) -> str:
    """The orders that a query is derived into, without what it said before, and their number."""
    lines = []
    for branch in branches(sql):
        before = len(branch.atoms)
        for lto in derive_lto(branch):
            text = render_branch(lto, False).splitlines()[-1].partition(" WHERE ")[2]
            lines.append(" AND ".join(text.split(" AND ")[before:]) or "nothing to order")
        lines.append(f"count: {count_lto(branch)}")
    return "\n".join(lines)


@pytest.mark.parametrize("case", read_cases("derive_lto.cases"), ids=str)
def test_case(case: Case) -> None:
    assert described(case.text) == case.expected


# --- brute force over a box -------------------------------------------------------------------------------------

HOLDS = {
    Op.LT: int.__lt__,
    Op.LE: int.__le__,
    Op.EQ: int.__eq__,
    Op.GE: int.__ge__,
    Op.GT: int.__gt__,
    Op.NE: int.__ne__,
}
Point = dict[Attribute, int]


def satisfies(branch: Branch, point: Point) -> bool:
    for atom in branch.atoms:
        assert isinstance(atom, Comparison) and isinstance(atom.offset, int)
        right = atom.offset + (point[atom.right] if atom.right is not None else 0)
        if not HOLDS[atom.op](point[atom.left], right):
            return False
    return True


def mentioned(branch: Branch) -> list[Attribute]:
    found = [a for atom in branch.atoms for a in atom.attributes]
    found += [output.value for output in branch.outputs if isinstance(output.value, Attribute)]
    return sorted(set(found))


def points(attributes: list[Attribute], box: range) -> Iterator[Point]:
    for values in product(box, repeat=len(attributes)):
        yield dict(zip(attributes, values, strict=True))


def pattern(branch: Branch, point: Point) -> tuple[tuple[int, ...], ...]:
    """How a solution orders each stream's attributes and the constants: the literal reading of Definition 6."""
    constants = sorted({a.offset for a in branch.atoms if isinstance(a, Comparison) and a.right is None})
    home = {alias: group for group in branch.merged for alias in group}
    ordered = []
    for group in dict.fromkeys(home.get(s.alias, (s.alias,)) for s in branch.of_kind(Kind.STREAM)):
        elements = [point[a] for a in point if a.source in group] + constants
        ordered.append(tuple((x > y) - (x < y) for x, y in product(elements, repeat=2)))
    return tuple(ordered)


COLUMNS = ("S.a", "S.b", "T.a", "T.c")
OPS = ("<", "<=", "=", ">", "<>")


@st.composite
def small(draw: st.DrawFn) -> str:
    columns = draw(st.sampled_from([COLUMNS, COLUMNS[:3], COLUMNS[:2]]))
    column = st.sampled_from(columns)
    constant = st.sampled_from(["0", "2"])
    right = column | constant | st.tuples(column, st.sampled_from(["+ 1", "- 2"])).map(" ".join)
    atoms = draw(st.lists(st.tuples(column, st.sampled_from(OPS), right).map(" ".join), max_size=4))
    projected = draw(st.lists(column, min_size=1, max_size=3, unique=True))
    where = f" WHERE {' AND '.join(atoms)}" if atoms else ""
    return f"SELECT {', '.join(projected)} FROM S, T{where}"


@settings(max_examples=70, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(small())
@example("SELECT S.a FROM S WHERE S.a <> S.b AND S.b <> 2")
@example("SELECT S.a, T.c FROM S, T WHERE S.a = 0 AND S.b > 0 AND S.b < 2 AND T.a <> S.a")
def test_lto_queries_partition_the_solutions(sql: str) -> None:
    for branch in branches(sql):
        attributes = mentioned(branch)
        box = range(-5, 8) if len(attributes) < 4 else range(-3, 6)
        solutions = [point for point in points(attributes, box) if satisfies(branch, point)]
        derived = list(derive_lto(branch))
        owners = []
        for point in solutions:
            owner = [i for i, lto in enumerate(derived) if satisfies(lto, point)]
            assert len(owner) == 1, f"{sql}: {point} is in {len(owner)} LTO queries"
            owners.extend(owner)
        patterns = {pattern(branch, point) for point in solutions}
        assert len(set(owners)) == len(patterns)
        exact = len(attributes) < 4 and "+" not in sql and "-" not in sql
        if exact:
            assert len(derived) == len(patterns), "an order without a solution"
            assert count_lto(branch) == len(patterns)
        for lto in derived:
            assert totally_ordered(lto)
        assert count_lto(branch, limit=10**6) == len(derived)


def totally_ordered(lto: Branch) -> bool:
    """Definition 6 in the closure: of any two elements exactly one is less, equal or greater."""
    closure = close(lto)
    assert closure.satisfiable
    matrix = closure.bounds[Sort.DISCRETE]
    constants = {a.offset for a in lto.atoms if isinstance(a, Comparison) and a.right is None}
    for source in lto.of_kind(Kind.STREAM):
        nodes = [closure.nodes[a][1] for a in closure.attributes(Sort.DISCRETE) if a.source == source.alias]
        pairs = [(x, y, 0) for x, y in product(nodes, repeat=2) if x < y]
        pairs += [(x, 0, c) for x in nodes for c in constants if isinstance(c, int)]
        for x, y, c in pairs:
            less, greater = matrix.implies(x, y, c, strict=True), matrix.implies(y, x, -c, strict=True)
            equal = matrix.implies(x, y, c) and matrix.implies(y, x, -c)
            if less + equal + greater != 1:
                return False
    return True


def test_derived_atoms_have_no_position() -> None:
    (branch,) = branches("SELECT S.a FROM S WHERE S.b < 2")
    for lto in derive_lto(branch):
        assert lto.atoms[: len(branch.atoms)] == branch.atoms
        assert all(atom.span is None for atom in lto.atoms[len(branch.atoms) :])
        assert len(lto.atoms) > len(branch.atoms)


def test_a_contradiction_has_no_orders() -> None:
    branch = query_of("SELECT a FROM S WHERE a < 2 AND a > 3").branches[0]
    assert list(derive_lto(branch)) == []
    assert count_lto(branch) == 0


# --- laziness -----------------------------------------------------------------------------------------------------

RELATED = " WHERE " + " AND ".join(f"S{i}.a{j} < S{i + 1}.a{(j + 3) % 8}" for i in range(9) for j in range(8))
FILTERED = " WHERE " + " AND ".join(f"S{i}.a{j} < {10 * i + j}" for i in range(10) for j in range(4))


@pytest.mark.parametrize("where", ["", RELATED, FILTERED], ids=["alone", "related", "filtered"])
def test_the_first_orders_of_ten_streams_of_eight_attributes(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    branch = wide(where)
    steps = 0
    tighten = DifferenceBounds.tightened

    def counting(self: DifferenceBounds, x: int, y: int, c: int, strict: bool = False) -> DifferenceBounds:
        nonlocal steps
        steps += 1
        return tighten(self, x, y, c, strict)

    monkeypatch.setattr(DifferenceBounds, "tightened", counting)
    first = list(islice(derive_lto(branch), 3))
    assert len(first) == len({lto.where for lto in first}) == 3
    assert steps < 2_000  # 80 attributes, each put into at most 2 × (7 attributes + 40 constants) places


def test_ten_streams_are_counted_in_closed_form() -> None:
    fubini = [1]
    for n in range(1, 9):
        fubini.append(sum(weak_orders(n, k) - weak_orders(n, k - 1) for k in range(1, n + 1)))
    assert fubini == [1, 1, 3, 13, 75, 541, 4683, 47293, 545835]
    assert count_lto(wide("")) == 545835**10
    assert count_lto(wide(RELATED)) is None


@pytest.mark.parametrize(("elements", "width"), [(e, w) for e in range(5) for w in range(5)])
def test_weak_orders(elements: int, width: int) -> None:
    """Functions onto 1..k, for k at most the width."""
    classes = {
        values
        for k in range(width + 1)
        for values in product(range(k), repeat=elements)
        if set(values) == set(range(k))
    }
    assert weak_orders(elements, width) == len(classes)


def test_the_limit_is_exact() -> None:
    (branch,) = branches("SELECT S.a FROM S WHERE S.a < S.b + 1 AND S.b < 7")
    found = len(list(derive_lto(branch)))
    assert count_lto(branch, limit=found) == found
    assert count_lto(branch, limit=found - 1) is None


def test_more_room_never_means_fewer_orders() -> None:
    counts = [
        count_lto(*branches(f"SELECT S.a, S.b FROM S WHERE S.a > 0 AND S.b > 0 AND S.a < {k}")) for k in range(2, 7)
    ]
    assert all(a is not None and b is not None and a <= b for a, b in pairwise(counts))
