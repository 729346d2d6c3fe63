"""The tree of a statement, its nodes by path, where columns of a node come from, and nodes that rules make."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from itertools import product

from msgspec import Struct, field
from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.aggregate_functions import computed_of
from streambound.analyzer.algebra.nodes import BucketKind, JoinKind, Named, Scalar, Tree, named_inputs
from streambound.analyzer.algebra.schema import schema
from streambound.analyzer.algebra.schema_columns import Schema, meant, read_by
from streambound.analyzer.algebra.substitution import values_of
from streambound.analyzer.algebra.syntax import conjuncts, scalar_of_column
from streambound.analyzer.catalog import Catalog, DeclaredTable
from streambound.analyzer.relation_queries import is_static, never_changes
from streambound.preprocess.trees.not_in import compared
from streambound.preprocess.trees.unions import in_both
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.derivation.claims import ClaimedNode

Places = frozenset[int]


class PlanNode(Struct, frozen=True, dict=True):
    """A node of the tree, with the columns of the relation that a recursion around it defines."""

    tree: Tree
    catalog: Catalog
    recursion: PlanNode | None = None
    """The `Fixpoint` of whose step it is a part."""

    def of(self, tree: Tree) -> PlanNode:
        """Another operator that stands as this one does."""
        return replace(self, tree=tree)

    def input(self, name: str) -> PlanNode:
        """The node that a field of it is."""
        found = named_inputs(self.tree).get(name)
        if found is None:
            raise RejectedError(f"a {type(self.tree).__name__} has no {name}")
        inside = isinstance(self.tree, nodes.Fixpoint) and name == "step"
        return PlanNode(found, self.catalog, self if inside else self.recursion)

    @property
    def below(self) -> PlanNode:
        """Its input, if it has one."""
        return self.input("input")

    @property
    def inputs(self) -> dict[str, PlanNode]:
        """All inputs by name."""
        return {name: self.input(name) for name in named_inputs(self.tree)}

    def along(self, path: Iterable[str]) -> PlanNode:
        """The node that a path of fields leads to."""
        node = self
        for name in path:
            node = node.input(name)
        return node

    @cached_property
    def schema(self) -> Schema:
        """The columns of its rows."""
        return schema(self.tree, self.catalog, () if self.recursion is None else self.recursion.schema)

    @cached_property
    def width(self) -> int:
        """How many columns there are."""
        return len(self.schema)

    @property
    def every(self) -> Places:
        """The places of all columns."""
        return frozenset(range(self.width))

    @property
    def is_static(self) -> bool:
        """Whether its rows are those of a relation that is computed once."""
        return is_static(self.tree, self.catalog)

    @property
    def never_changes(self) -> bool:
        """Whether its rows are of relations that do not change, also by recursion."""
        return never_changes(self.tree, self.catalog)

    @property
    def table(self) -> DeclaredTable | None:
        """The table that a scan reads."""
        return self.catalog.table(self.tree.table) if isinstance(self.tree, nodes.Scan) else None

    @cached_property
    def conditions(self) -> list[exp.Expr]:
        """The conjuncts of a filter's or a join's condition, over the columns of its input, or of both sides."""
        return conjuncts(self.tree.condition) if isinstance(self.tree, nodes.Filter | nodes.Join) else []

    @cached_property
    def row(self) -> Schema:
        """The columns that its condition reads."""
        return tuple(column for one in self.inputs.values() for column in one.schema)

    def same(self, other: PlanNode) -> bool:
        """Whether it is an equal node."""
        if self.tree != other.tree:
            return False
        mine, theirs = self.recursion, other.recursion
        around = mine is theirs or (mine is not None and theirs is not None and mine.same(theirs))
        return around or not _reads_recursion(self.tree)

    def read_by(self, *expressions: exp.Expr | Scalar | None) -> Places:
        """The places of the columns that expressions read, in their subqueries, too."""
        given = (one.syntax if isinstance(one, Scalar) else one for one in expressions if one is not None)
        return read_by(self.schema, *given)

    def place_of(self, node: exp.Expr | Scalar) -> int | None:
        """The place of the column that an expression is; None for another one."""
        inner = (node.syntax if isinstance(node, Scalar) else node).unnest()
        return meant(inner, self.schema) if isinstance(inner, exp.Column) else None


def _reads_recursion(tree: Tree) -> bool:
    """Whether a tree has rows of a recursion around it, so that it matters which one that is."""
    return isinstance(tree, nodes.Recur) or any(map(_reads_recursion, named_inputs(tree).values()))


# --- where columns come from ------------------------------------------------------------------------------------------


class Origin(Struct, frozen=True):
    """Where a column comes from: a column of the input ``name``, or an expression over it; ``missing``: or NULL."""

    name: str
    node: PlanNode
    column: int | None = None
    expression: exp.Expr | None = None
    missing: bool = False


def origin(node: PlanNode, column: int) -> Origin | None:
    """Where a column of a node comes from; None where it is neither a column nor an expression of one input."""
    match node.tree:
        case nodes.Project():
            return _of_expression(node.below, listed(node)[column])
        case nodes.Aggregate(keys=keys):
            return _of_expression(node.below, keys[column].value.syntax) if column < len(keys) else None
        case nodes.Except() | nodes.Intersect():
            return Origin("left", node.input("left"), column)
        case nodes.Join(kind=kind, using=()):
            left = node.input("left")
            if kind in nodes.ONE_SIDED or column < left.width:
                return Origin("left", left, column, missing=kind in (JoinKind.RIGHT, JoinKind.FULL))
            missing = kind in (JoinKind.LEFT, JoinKind.FULL)
            return Origin("right", node.input("right"), column - left.width, missing=missing)
        case nodes.Join() | nodes.Union() | nodes.Fixpoint() | nodes.Scan() | nodes.Recur():
            return None
    return Origin("input", node.below, column) if column < node.below.width else None


def _of_expression(below: PlanNode, node: exp.Expr) -> Origin:
    place = below.place_of(node)
    return Origin("input", below, expression=node) if place is None else Origin("input", below, place)


def listed(node: PlanNode) -> list[exp.Expr]:
    """The items of a select list: expressions, for a ``*`` the columns that it stands for."""
    assert isinstance(node.tree, nodes.Project), "it is one"
    return values_of(node.tree.items, node.below.schema)


def traced(node: PlanNode, column: int, missing: bool = False) -> tuple[PlanNode, int]:
    """The lowest operator of which a column is one as it is, and, unless it may be ``missing``, is always there."""
    found = origin(node, column)
    while found is not None and found.column is not None and (missing or not found.missing):
        node, column = found.node, found.column
        found = origin(node, column)
    return node, column


def session_of(node: PlanNode) -> nodes.Bucket | None:
    """The sessions of which a select list has the keys of rows."""
    below = node.below if isinstance(node.tree, nodes.Project) else node
    below = below.below if isinstance(below.tree, nodes.Filter) else below
    return below.tree if is_session(below.tree) and isinstance(below.tree, nodes.Bucket) else None


def is_session(tree: Tree) -> bool:
    """Whether rows are those of sessions."""
    return isinstance(tree, nodes.Bucket) and tree.kind is BucketKind.SESSION


# --- nodes that rules make --------------------------------------------------------------------------------------------


def pairs(node: PlanNode) -> PlanNode:
    """The pairs of a join."""
    if not isinstance(node.tree, nodes.Join):
        raise RejectedError("pairs of what is no join")
    return node.of(replace(node.tree, kind=JoinKind.INNER, member=None))


def with_partners(node: PlanNode) -> PlanNode:
    """The rows of a join, of a semi or anti join with those that it asks for."""
    if not isinstance(node.tree, nodes.Join):
        raise RejectedError("partners of what is no join")
    asks = node.tree.kind in (JoinKind.SEMI, JoinKind.ANTI)
    return node.of(replace(node.tree, kind=JoinKind.LEFT)) if asks else node


def with_conditions(node: PlanNode) -> PlanNode:
    """An inner join with the condition that stands above it; another node as it is."""
    join = node.below.tree if isinstance(node.tree, nodes.Filter) else None
    if not isinstance(node.tree, nodes.Filter) or not isinstance(join, nodes.Join) or join.kind is not JoinKind.INNER:
        return node
    both = [one.syntax for one in (join.condition, node.tree.condition) if one is not None]
    return node.below.of(replace(join, condition=Scalar(exp.and_(*both))))


def keyed(node: PlanNode, call: int | None = None, own: bool = True) -> PlanNode:
    """The rows below groups with their keys, and with the value of one of the aggregates for its rows.

    Without their ``own`` columns these are the keys alone.
    """
    tree = node.tree
    if not isinstance(tree, nodes.Aggregate) or not 0 <= (call or 0) <= len(tree.calls) - (call is not None):
        raise RejectedError("keys of what has no groups, or no such aggregate")
    rows, one = tree.input, None if call is None else tree.calls[call]
    items = [Named(f"c{n}", scalar_of_column(c), alias=True) for n, c in enumerate(node.below.schema if own else ())]
    items += [Named(f"_k{n}", key.value, alias=True) for n, key in enumerate(tree.keys)]
    if one is not None:
        known = {key.value.text for key in tree.keys}
        values = [value for value in computed_of(one) if value.text not in known]
        items += [Named(f"_v{n}", value, alias=True) for n, value in enumerate(values)]
        rows = rows if one.filter is None else filtered_by(rows, one, tree)
    return node.of(nodes.Project(rows, tuple(items), syntax=tree.syntax))


def filtered_by(rows: Tree, call: nodes.AggregateCall, tree: nodes.Aggregate) -> Tree:
    """The rows that a FILTER of an aggregate lets pass."""
    where = None if call.filter is None else Scalar(call.filter.syntax)
    return rows if where is None else nodes.Filter(rows, where, syntax=rows.syntax or tree.syntax)


def value_of(call: nodes.AggregateCall) -> exp.Expr:
    """The value that an aggregate is computed of."""
    if len(computed_of(call)) != 1:
        raise RejectedError("values of several arguments")
    return computed_of(call)[0].syntax


def partitions(node: PlanNode, call: int | None, columns: tuple[int, ...] = (), whole: bool = False) -> PlanNode:
    """What a function over windows has partitions by, with more columns of the rows; or the whole rows with that."""
    tree, below = node.tree, node.below
    if not isinstance(tree, nodes.Over) or call is None or not 0 <= call < len(tree.calls):
        raise RejectedError("partitions of no function")
    if not {*columns} <= below.every:
        raise RejectedError("columns that are none")
    more = [scalar_of_column(below.schema[one]) for one in columns]
    own = list(tree.calls[call].partition)
    shown = [*map(scalar_of_column, below.schema), *own] if whole else [*own, *more]
    items = tuple(Named(f"c{n}", one, alias=True) for n, one in enumerate(shown))
    return node.of(nodes.Project(tree.input, items, syntax=tree.syntax))


def parts(node: PlanNode) -> list[PlanNode]:
    """The parts of a union, or the same operator over each part of its input: their rows together are all rows.

    Of EXCEPT and INTERSECT these are the sides, of whose rows theirs are some.
    """
    tree = node.tree
    match tree:
        case nodes.Except() | nodes.Intersect():
            return [*node.inputs.values()]
        case nodes.Union():
            sides = [_named_as(side, node) for side in node.inputs.values()]
            return [part for side in sides for part in _parts_of_union(side) or [side]]
    return _parts_of_union(node)


def _parts_of_union(node: PlanNode) -> list[PlanNode]:
    tree = node.tree
    match tree:
        case nodes.Union():
            return parts(node)
        case nodes.Aggregate(keys=keys, input=input) if not keys or is_session(input):
            return []
        case (
            nodes.Filter() | nodes.Alias() | nodes.Project() | nodes.SpjBlock() | nodes.Distinct() | nodes.Bucket()
            | nodes.Over() | nodes.Apply() | nodes.Aggregate()
        ):  # fmt: skip
            return [node.of(replace(tree, input=one.tree)) for one in _alike(node.below)]
        case nodes.Join(kind=kind) if kind is not JoinKind.FULL:
            left, right = node.input("left"), node.input("right")
            mine = _alike(left) if kind is not JoinKind.RIGHT else []
            theirs = _alike(right) if kind in (JoinKind.INNER, JoinKind.RIGHT) else []
            both = product(mine or [left], theirs or [right]) if mine or theirs else ()
            return [node.of(replace(tree, left=one.tree, right=other.tree)) for one, other in both]
    return []


def _alike(node: PlanNode) -> list[PlanNode]:
    """The parts of an input, if their columns have its names."""
    found = _parts_of_union(node)
    return found if all(_names(one) == _names(node) for one in found) else []


def _names(node: PlanNode) -> list[str]:
    return [f"{one.alias}.{one.name}".strip(".").lower() for one in node.schema]


def _named_as(side: PlanNode, union: PlanNode) -> PlanNode:
    """A side of a union with the union's names for its columns; as it is where they cannot be told apart."""
    columns, names = union.schema, _names(side)
    aliases = {column.alias for column in columns}
    if names == _names(union) or len(aliases) > 1 or len({*names}) < len(columns):
        return side
    items = [Named(new.name, scalar_of_column(old), True) for old, new in zip(side.schema, columns, strict=True)]
    found: Tree = nodes.Project(side.tree, tuple(items), syntax=side.tree.syntax)
    (alias,) = aliases
    return side.of(found if not alias else nodes.Alias(found, alias, syntax=side.tree.syntax))


class PlanNodes(Struct, frozen=True, dict=True):
    """The nodes that a derivation speaks of."""

    root: PlanNode
    claimed: tuple[ClaimedNode, ...]
    used: set[int] = field(default_factory=set)

    @cached_property
    def found(self) -> tuple[PlanNode, ...]:
        """Each of them."""
        return tuple(map(self._found, self.claimed))

    def at(self, number: int | None) -> PlanNode:
        """One of them."""
        if number is None or not 0 <= number < len(self.claimed):
            raise RejectedError(f"there is no node {number}")
        self.used.add(number)
        return self.found[number]

    def _found(self, claim: ClaimedNode) -> PlanNode:
        node = self._made(claim, self.root.along(claim.path))
        if claim.part is not None:
            found = parts(node)
            if not 0 <= claim.part < len(found):
                raise RejectedError("there is no such part")
            node = found[claim.part]
        return node.along(claim.below)

    @staticmethod
    def _made(claim: ClaimedNode, node: PlanNode) -> PlanNode:
        tree: Tree | None = None
        match claim.made:
            case "":
                return node
            case "pairs":
                return pairs(node)
            case "partners":
                return with_partners(node)
            case "keyed" | "session" | "passing":
                found = keyed(node, claim.call, own=claim.made != "session")
                return found.below if claim.made == "passing" else found
            case "partitions" | "partitioned":
                return partitions(node, claim.call, claim.columns, claim.made == "partitioned")
            case "both":
                tree = in_both(node.tree)
            case "member" | "values" if (sides := compared(node.tree)) is not None:
                tree = sides[claim.made == "values"]
            case "common" if isinstance(node.tree, nodes.Except | nodes.Intersect):
                tree = nodes.Intersect(node.tree.left, node.tree.right, node.tree.distinct)
        if tree is None:
            raise RejectedError(f"nothing makes a node of {claim.made!r}")
        return node.of(tree)
