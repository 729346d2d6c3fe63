"""Theorems 1 and 2, decided without enumerating LTO queries, against their literal text on every LTO query.

Nothing of `criteria` is used on the literal side: P+ is closed here, the graph is reduced here, and each clause is the
paper's sentence. Weak inequalities between streams are split here, as the paper has none.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import product

import pytest
from hypothesis import example, given
from msgspec.structs import replace

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.catalog import parse_catalog
from streambound.analyzer.lower import lower
from streambound.analyzer.query import Attribute, Branch, Comparison, Kind, Op, Query, conjunction
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statements import split_statements
from streambound.criteria.order_search import Reference, survive_together
from streambound.criteria.theorem1 import theorem1
from streambound.criteria.theorem2 import theorem2
from streambound.preprocess.derive_lto import derive_lto
from streambound.preprocess.pipeline import derive
from support.choices import Choices, drawn
from support.profiles import examples

MOST_LTO = 1500
STREAMS = ("X", "Y", "Z", "W")
CATALOG = parse_catalog(
    "".join(
        f'[streams.{name}]\ntimestamp = "ts"\ndomain.d = [2, 5]\n'
        'columns = { a = "bigint", b = "bigint", d = "bigint", t = "tinyint", ts = "bigint" }\n'
        for name in STREAMS
    )
    + '[relations.R]\ncolumns = { r = "bigint" }\n'
)
DECLARED = {"d": (2, 5), "t": (-128, 127)}
"""The ends that columns have by the catalog: conditions that every tuple satisfies."""
Element = Attribute | int
ZERO = 0


def query_of(sql: str) -> Query:
    (statement,) = split_statements(SourceText("q.sql", sql))
    result = lower(statement, CATALOG)
    assert result.query is not None, result.diagnostics
    return result.query


# --- P+ -------------------------------------------------------------------------------------------------------


class Plus:
    """P+ over integers: ``least[x][y]`` is the least c with ``x − y ≤ c``; constants are offsets from node 0."""

    def __init__(self, branch: Branch) -> None:
        atoms = [atom for atom in branch.atoms if isinstance(atom, Comparison)]
        times = [Attribute(s.alias, s.timestamp) for s in branch.streams if s.timestamp]
        self.nodes: list[Element] = list(dict.fromkeys([ZERO, *times, *(a for atom in atoms for a in atom.attributes)]))
        self.nodes += [o.value for o in branch.outputs if isinstance(o.value, Attribute) and o.value not in self.nodes]
        far = float("inf")
        self.least = {x: {y: 0 if x == y else far for y in self.nodes} for x in self.nodes}
        for time in times:
            self._add(ZERO, time, 0)
        for atom in atoms:
            other: Element = ZERO if atom.right is None else atom.right
            assert isinstance(atom.offset, int)
            if atom.op in (Op.LT, Op.LE, Op.EQ):
                self._add(atom.left, other, atom.offset - (atom.op is Op.LT))
            if atom.op in (Op.GT, Op.GE, Op.EQ):
                self._add(other, atom.left, -atom.offset - (atom.op is Op.GT))
        declared = {x: ends for x in self.nodes if isinstance(x, Attribute) and (ends := DECLARED.get(x.column))}
        for x, (low, high) in declared.items():
            self._add(ZERO, x, -low)
            self._add(x, ZERO, high)
        for k, i, j in product(self.nodes, repeat=3):
            self.least[i][j] = min(self.least[i][j], self.least[i][k] + self.least[k][j])
        assert all(self.least[x][x] == 0 for x in self.nodes), "an LTO query must be satisfiable"
        constants = {a.offset for a in atoms if a.right is None and not branch.is_time(a.left)}
        self.constants = sorted(constants.union(*declared.values()))

    def _add(self, x: Element, y: Element, c: int) -> None:
        self.least[x][y] = min(self.least[x][y], c)

    def at_most(self, x: Element, y: Element) -> float:
        """The least c with ``x − y ≤ c``, where an integer stands for itself."""
        if isinstance(x, int) and isinstance(y, int):
            return x - y
        if isinstance(x, int):
            return self.least[ZERO][y] + x
        return self.least[x][ZERO] - y if isinstance(y, int) else self.least[x][y]

    def less(self, x: Element, y: Element) -> bool:
        return self.at_most(x, y) <= -1

    def same(self, x: Element, y: Element) -> bool:
        return self.at_most(x, y) <= 0 and self.at_most(y, x) <= 0


# --- the paper's definitions ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Literal:
    """One modified LTO query with the paper's definitions."""

    stated: Branch
    lto: Branch

    @cached_property
    def plus(self) -> Plus:
        return Plus(self.lto)

    @cached_property
    def vertex(self) -> dict[str, str]:
        group = {alias: "+".join(members) for members in self.lto.merged for alias in members}
        return {s.alias: group.get(s.alias, s.alias) for s in self.lto.of_kind(Kind.STREAM)}

    @cached_property
    def vertices(self) -> list[str]:
        return list(dict.fromkeys(self.vertex.values()))

    def _newer(self, x: str, y: str) -> bool:
        of = {name: Attribute(alias, "ts") for alias, name in self.vertex.items()}
        return self.plus.less(of[y], of[x])

    @cached_property
    def parents(self) -> dict[str, list[str]]:
        """The transitive reduction, from child to parent."""
        return {
            y: [
                x
                for x in self.vertices
                if self._newer(x, y) and not any(self._newer(x, z) and self._newer(z, y) for z in self.vertices)
            ]
            for y in self.vertices
        }

    def tree(self, x: str) -> frozenset[str]:
        found = {x}
        while True:
            more = {y for y in self.vertices for z in found if y in self.parents[z] or z in self.parents[y]} | found
            if more == found:
                return frozenset(found)
            found = more

    @cached_property
    def trees(self) -> set[frozenset[str]]:
        return {self.tree(x) for x in self.vertices}

    def d(self, x: str) -> int:
        return 1 + self.d(self.parents[x][0]) if self.parents[x] else 0

    # Definition 5; a finite stream's attribute counts like a relation's.

    def bounded(self, x: Attribute) -> bool:
        anchors = [
            a for a in self.plus.nodes if isinstance(a, Attribute) and a.source not in self.vertex and a.column != "ts"
        ]
        low = any(self.plus.at_most(a, x) < float("inf") for a in (ZERO, *anchors))
        high = any(self.plus.at_most(x, a) < float("inf") for a in (ZERO, *anchors))
        return low and high

    # Definitions 8 and 9.

    def redundant(self, x: Attribute, y: Attribute) -> bool:
        plus = self.plus
        elements: list[Element] = [*(n for n in plus.nodes if n != ZERO and n.column != "ts"), *plus.constants]  # type: ignore[union-attr]
        if any(plus.less(x, e) and plus.less(e, y) for e in elements):
            return True
        return any(
            (plus.same(x, k) and plus.less(k, y)) or (plus.less(x, k) and plus.same(y, k)) for k in plus.constants
        )

    def _joined(self, own: Attribute) -> list[Attribute]:
        others = [
            n for n in self.plus.nodes if isinstance(n, Attribute) and n.column != "ts" and n.source in self.vertex
        ]
        return [n for n in others if self.vertex[n.source] != self.vertex[own.source]]

    def _attributes(self, x: str) -> list[Attribute]:
        nodes = [n for n in self.plus.nodes if isinstance(n, Attribute) and n.column != "ts"]
        return [n for n in nodes if self.vertex.get(n.source) == x]

    def max_ref(self, x: str) -> list[Attribute]:
        return [
            a
            for a in self._attributes(x)
            if not self.bounded(a) and any(self.plus.less(b, a) and not self.redundant(b, a) for b in self._joined(a))
        ]

    def min_ref(self, x: str) -> list[Attribute]:
        return [
            a
            for a in self._attributes(x)
            if not self.bounded(a) and any(self.plus.less(a, b) and not self.redundant(a, b) for b in self._joined(a))
        ]

    def classes(self, attributes: list[Attribute]) -> int:
        return len({frozenset(b for b in attributes if self.plus.same(a, b)) for a in attributes})

    @cached_property
    def joins(self) -> list[tuple[Attribute, Op, Attribute]]:
        """The integer joins that the query states between different infinite streams."""
        return [
            (atom.left, atom.op, atom.right)
            for atom in self.stated.atoms
            if isinstance(atom, Comparison)
            and atom.right is not None
            and atom.left.column != "ts"
            and {atom.left.source, atom.right.source} <= self.vertex.keys()
            and self.vertex[atom.left.source] != self.vertex[atom.right.source]
        ]

    @cached_property
    def projected(self) -> list[Attribute]:
        return [o.value for o in self.lto.outputs if isinstance(o.value, Attribute) and o.value.source in self.vertex]


def theorem_1(q: Literal) -> set[str]:
    """The clauses of Theorem 1 that fail; the others are not asked where C1 fails, as they all require a tree."""
    if any(len(parents) > 1 for parents in q.parents.values()):
        return {"C1"}
    failed = set()
    one = len(q.trees) == 1
    for left, op, right in q.joins:
        if op is not Op.EQ and q.redundant(*((left, right) if op is Op.LT else (right, left))):
            continue
        i, j = q.vertex[left.source], q.vertex[right.source]
        if q.tree(i) == q.tree(j):
            if not ((q.parents[i] and q.parents[i] == q.parents[j]) or q.parents[j] == [i] or q.parents[i] == [j]):
                failed.add("C2")
        elif not q.d(i) == q.d(j) == 0:
            failed.add("C2")
    for a in q.projected:
        depth = q.d(q.vertex[a.source])
        if depth > 1 or (not one and not q.bounded(a)) or (one and depth == 1 and not q.bounded(a)):
            failed.add("C3")
    for left, op, right in q.joins:
        if op is not Op.EQ:
            continue
        roots = [x for x in (left, right) if one and q.d(q.vertex[x.source]) == 0]
        if not roots and not (q.bounded(left) and q.bounded(right)):
            failed.add("C4")
        for root in roots:
            other = right if root == left else left
            if not q.bounded(other) or q.d(q.vertex[other.source]) != 1:
                failed.add("C4")
    for x in q.vertices:
        if not (one and q.d(x) == 0) and (q.max_ref(x) or q.min_ref(x)):
            failed.add("C5")
    return failed


def theorem_2(q: Literal) -> set[str]:
    """The clauses of Theorem 2 that fail."""
    failed = set()
    if not all(q.bounded(a) for a in q.projected):
        failed.add("C1")
    if not all(q.bounded(left) and q.bounded(right) for left, op, right in q.joins if op is Op.EQ):
        failed.add("C2")
    if any(q.classes(q.max_ref(x)) + q.classes(q.min_ref(x)) > 1 for x in q.vertices):
        failed.add("C3")
    return failed


# --- random queries ---------------------------------------------------------------------------------------------

Atom = tuple[str, str, str]
Asked = tuple[tuple[str, ...], tuple[str, ...], tuple[Atom, ...]]


def sql(streams: tuple[str, ...], projected: tuple[str, ...], atoms: tuple[Atom, ...], distinct: bool) -> str:
    used = " ".join(projected + tuple(part for atom in atoms for part in atom))
    sources = (*streams, *(("R",) if "R." in used else ()))
    where = " WHERE " + " AND ".join(" ".join(atom) for atom in atoms) if atoms else ""
    return f"SELECT {'DISTINCT ' * distinct}{', '.join(projected) or '1'} FROM {', '.join(sources)}{where}"


def strict(atoms: tuple[Atom, ...]) -> list[tuple[Atom, ...]]:
    """Weak inequalities between streams as < or =: the paper has none."""
    ways = []
    for left, op, right in atoms:
        weak = op in ("<=", ">=") and "R" not in (left[0], right[0]) and not right.isdigit() and left[0] != right[0]
        ways.append([(left, op[0], right), (left, "=", right)] if weak else [(left, op, right)])
    return list(product(*ways))


def unequal(branch: Branch) -> list[Branch]:
    """Step 1 of the paper for each <> between streams; the product leaves one between bounded attributes as it is."""
    halves = [
        [replace(atom, op=op) for op in (Op.LT, Op.GT)]
        if isinstance(atom, Comparison) and atom.op is Op.NE and len({a.source for a in atom.attributes} - {"R"}) == 2
        else [atom]
        for atom in branch.atoms
    ]
    return [replace(branch, where=conjunction(atoms)) for atoms in product(*halves)]


def literal(
    streams: tuple[str, ...], projected: tuple[str, ...], atoms: tuple[Atom, ...], distinct: bool
) -> set[str] | None:
    """The clauses that fail in some LTO query; None when there are too many of them."""
    failed: set[str] = set()
    left = MOST_LTO
    for variant in strict(atoms):
        renamed = derive(query_of(sql(streams, projected, variant, distinct))).renamed.branches
        for half in (half for branch in renamed for half in unequal(branch)):
            for lto in derive_lto(half):
                failed |= (theorem_2 if distinct else theorem_1)(Literal(half, lto))
                left -= 1
                if not left:
                    return None
    return failed


CONSTANTS = (("0", "3"), ("4", "6", "7"), ("4", "5", "6"), ("0", "2", "4"), ("5", "8"), ("1", "2", "3", "9"), ("3",))
"""Constants of a query: far apart, and at distances 1 and 2."""


def asked(choices: Choices) -> Asked:
    """Two to four streams in trees of any shape, joins between any of them, several constants close together."""
    streams = STREAMS[: choices.weighted([(4, 2), (6, 3), (2, 4)])]
    columns = [f"{s}.a" for s in streams]
    columns += [f"{s}.b" for s in streams if choices.chance({2: 90, 3: 40, 4: 10}[len(streams)])]
    columns += [f"{choices.pick(streams)}.{name}" for name, often in (("d", 15), ("t", 5)) if choices.chance(often)]
    drawn = [*times(choices, streams)]
    for _ in range(choices.integer(0, 3)):
        drawn.append((choices.pick(columns), choices.pick(["<", "<", ">", "=", "<=", "<>"]), choices.pick(columns)))
    constants = choices.pick(CONSTANTS)
    for _ in range(choices.integer(0, 6)):
        drawn.append((choices.pick(columns), choices.pick(["<", ">", "<", ">", "=", "<="]), choices.pick(constants)))
    if choices.chance(25):
        drawn.append((choices.pick(columns), choices.pick(["<", ">", "="]), "R.r"))
        drawn += [("R.r", choices.pick(["<", ">"]), choices.pick(constants))] if choices.chance(30) else []
    atoms = tuple(atom for atom in drawn if atom[0] != atom[2])
    projected = tuple(dict.fromkeys(choices.pick(columns) for _ in range(choices.integer(0, 2))))
    return streams, projected, atoms


def times(choices: Choices, streams: tuple[str, ...]) -> list[Atom]:
    """Each stream under one before it or apart, at times a further order, or a stream that ends."""
    found: list[Atom] = []
    for place, stream in enumerate(streams[1:], start=1):
        if choices.chance(65):
            newer = streams[choices.integer(0, place - 1)]
            found.append((f"{newer}.ts", choices.pick([">", ">", ">", ">", ">=", "=", "<"]), f"{stream}.ts"))
    if choices.chance(20):
        found.append((f"{choices.pick(streams)}.ts", choices.pick([">", "="]), f"{choices.pick(streams)}.ts"))
    if choices.chance(10):
        found.append((f"{choices.pick(streams)}.ts", "<", "5"))
    return found


def agree(case: Asked, distinct: bool) -> None:
    result = (theorem2 if distinct else theorem1)(derive(query_of(sql(*case, distinct))).split)
    assert result is not None
    expected = literal(*case, distinct)
    if expected is None:
        return
    found = {violation.condition for violation in result.violations}
    told = f"{sql(*case, distinct)}: decided {sorted(found)}, literally {sorted(expected)}"
    assert result.holds == (not expected), told
    if distinct or "C1" not in expected:
        # An unbounded equality join (C2 or C4) makes references of its stream's other attributes (C3 or C5) in the
        # LTO queries that order them beside it; the equality is to blame.
        equality, reference = ("C2", "C3") if distinct else ("C4", "C5")
        excused = {reference} if equality in expected else set()
        assert found - excused == expected - excused, told


@pytest.fixture(autouse=True)
def every_lto_query(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside relations the product looks at a limited number of LTO queries; here at all of them."""
    monkeypatch.setattr("streambound.criteria.paper.MOST_LTO", MOST_LTO)


THREE = STREAMS[:3]
BESIDE = (("X.ts", ">", "Z.ts"), ("Y.a", "<", "Z.a"), ("X.a", "=", "Z.a"))
"""A join that C2 forbids, between the root of a tree and another one's child."""
CHAIN = (("X.ts", ">", "Y.ts"), ("Y.ts", ">", "Z.ts"))


@examples(60)
@given(case=drawn(asked))
@example(case=(THREE, ("X.a", "Y.a"), (*CHAIN, ("X.a", ">", "Y.a"), ("Y.a", ">", "0"), ("Y.a", "<", "3"))))
@example(case=(THREE, ("Z.a",), (*CHAIN, ("Z.a", ">", "0"), ("Z.a", "<", "3"))))
@example(case=(("X", "Y"), (), (("X.a", "=", "Y.a"), ("X.a", "<", "0"), ("X.b", "<", "0"), ("X.a", ">", "R.r"))))
@example(
    case=(("X", "Y"), ("X.b",), (("X.ts", "<", "Y.ts"), ("X.a", "=", "Y.a"), ("X.a", "=", "R.r"), ("X.b", "<", "9")))
)
@example(case=(THREE, (), (*BESIDE, ("X.a", ">", "4"), ("Y.a", "<", "6"), ("Z.a", "<", "7"))))
@example(case=(THREE, (), (*BESIDE, ("X.a", ">", "4"), ("Y.a", "<", "8"), ("Z.a", "<", "8"))))
def test_theorem_1(case: Asked) -> None:
    agree(case, distinct=False)


@examples(60)
@given(case=drawn(asked))
@example(case=(THREE, (), (*CHAIN, ("X.a", "<", "Y.a"), ("X.b", "<", "Z.a"))))
@example(case=(("X", "Y"), (), (("X.ts", ">", "Y.ts"), ("X.a", "<", "Y.a"), ("X.a", "<", "Y.b"))))
@example(case=(("X", "Y"), (), (("X.ts", ">", "Y.ts"), ("X.a", "<", "Y.a"), ("X.b", "<", "Y.b"))))
@example(case=(("X", "Y"), (), (("X.ts", ">", "Y.ts"), ("X.a", "<", "Y.a"), ("X.b", ">", "Y.a"))))
@example(case=(("X", "Y"), (), (("X.a", "=", "Y.a"), ("X.b", "<", "Y.b"), ("X.a", "=", "R.r"))))
def test_theorem_2(case: Asked) -> None:
    agree(case, distinct=True)


# --- where it is not decided ------------------------------------------------------------------------------------


def theorem(text: str) -> bool | None:
    query = derive(query_of(text)).split
    result = (theorem2 if query.distinct else theorem1)(query)
    return None if result is None else result.holds


BESIDE_RELATION = "FROM X, Y, R WHERE X.ts > Y.ts AND X.a < Y.a AND Y.a < R.r AND X.b <> 3 AND Y.b <> 4"


@pytest.mark.parametrize("select", ["SELECT 1 AS one", "SELECT DISTINCT 1 AS one"])
def test_too_many_lto_queries_decide_nothing(select: str, monkeypatch: pytest.MonkeyPatch) -> None:
    decided = theorem(f"{select} {BESIDE_RELATION}")
    assert decided is not None
    monkeypatch.setattr("streambound.criteria.paper.MOST_LTO", 2)
    assert theorem(f"{select} {BESIDE_RELATION}") is None
    assert theorem(f"{select.removesuffix('1 AS one')}Y.b {BESIDE_RELATION}") is False  # C3 or C1, by P+ alone


LEAST_OF_TWO = "SELECT DISTINCT 1 AS one FROM X, Y WHERE X.ts > Y.ts AND X.a < Y.a AND X.a < Y.b"
FAR_APART = """SELECT DISTINCT 1 AS one FROM X, Y, Z, W
WHERE X.a < Z.b AND Z.a < Y.a AND X.a < W.a AND W.a < Y.a AND Z.a < Z.b"""


def test_a_search_that_is_cut_off_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    (branch,) = derive(query_of(FAR_APART)).split.branches
    x, y, b, a = Attribute("X", "a"), Attribute("Y", "a"), Attribute("Z", "b"), Attribute("Z", "a")
    together = (Reference(x, b, b), Reference(a, y, a))
    assert survive_together(Facts.of(branch), *together) is True
    monkeypatch.setattr("streambound.criteria.order_search.MOST_STEPS", 0)
    assert survive_together(Facts.of(branch), *together) is None
    assert theorem(LEAST_OF_TWO) is True
    monkeypatch.setattr("streambound.criteria.theorem2.survive_together", lambda *_: None)
    assert theorem(LEAST_OF_TWO) is None
