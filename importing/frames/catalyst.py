"""Spark's analysed plans as their JSON has them (`TreeNode.toJSON`): operators and expressions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

_NAMELESS = ("exprId", "resultId", "jvmId", "nodeId", "qualifier", "metadata", "nonInheritableMetadataKeys", "nullable")
"""Fields that two readings of the same thing differ in."""
SOURCE = "streambound source: "
"""How the alias of a source begins that says what it is called."""


class Expression(Struct, frozen=True, eq=False):
    """An expression: its class's name, its fields, and what it is made of."""

    kind: str
    fields: Mapping[str, Any]
    children: tuple[Expression, ...]

    @property
    def id(self) -> int:
        """Of an attribute or an alias: what tells it from others of its name."""
        return int(self.fields["exprId"]["id"])

    @property
    def name(self) -> str:
        """Of an attribute or an alias."""
        return str(self.fields.get("name", ""))

    @property
    def value(self) -> str | None:
        """Of a literal, as text."""
        return self.fields.get("value")

    @property
    def type(self) -> Any:
        """Of an attribute, a literal or a cast."""
        return self.fields.get("dataType")

    def walk(self) -> Iterator[Expression]:
        """It and all that it is made of."""
        yield self
        for child in self.children:
            yield from child.walk()


class CallSite(Struct, frozen=True):
    """A call of a program: its line, and where it ends, as `ast` has that: a line and a column in bytes."""

    line: int
    end: tuple[int, int]


class NodeFacts(Struct, frozen=True):
    """What JSON does not say of an operator: the call that made it, a watermark's delay in milliseconds, its types.

    ``types`` are those of its columns, as JSON has them; of operators at which a stream begins. ``unmarked`` are
    attributes that it does not take for event times, among its keys, and the times of its windows. ``identity`` tells
    sources apart that JSON does not.
    """

    call: CallSite | None = None
    delay: int | None = None
    types: tuple[Any, ...] = ()
    unmarked: frozenset[int] = frozenset()
    identity: int = 0


class CatalystNode(Struct, frozen=True, eq=False):
    """An operator of a plan; ``call`` is that of the program that made it, None where that is not known.

    ``delay``, ``types``, ``unmarked`` and ``identity`` as in `NodeFacts`.
    """

    kind: str
    fields: Mapping[str, Any]
    children: tuple[CatalystNode, ...]
    call: CallSite | None = None
    delay: int | None = None
    types: tuple[Any, ...] = ()
    unmarked: frozenset[int] = frozenset()
    identity: int = 0

    @property
    def line(self) -> int | None:
        """The line of the call."""
        return None if self.call is None else self.call.line

    @property
    def child(self) -> CatalystNode:
        """The only operator below."""
        return self.children[0]

    def expression(self, field: str) -> Expression | None:
        """A field that is an expression; None where it has none."""
        found = self.fields.get(field)
        return expression_of(found) if isinstance(found, list) and found else None

    def expressions(self, field: str) -> list[Expression]:
        """A field that is a list of them."""
        return [expression_of(one) for one in self.fields.get(field) or ()]

    def fingerprint(self) -> str:
        """A text that two readings of the same rows have in common."""
        if self.source_name:
            return self.source_name
        below = [child.fingerprint() for child in self.children]
        return repr((self.kind, _nameless(self.fields), self.delay, self.identity, below))

    @property
    def source_name(self) -> str:
        """What a source is called, of the alias that says so; nothing of another operator."""
        name = str(self.fields["identifier"]["name"]) if self.kind == "SubqueryAlias" else ""
        return name.removeprefix(SOURCE) if name.startswith(SOURCE) else ""


def plan_of(nodes: Sequence[Mapping[str, Any]], facts: Sequence[NodeFacts]) -> CatalystNode:
    """The plan that a list of nodes in preorder is, each with what else is known of it.

    Where it is not known which call made an operator, the one of the operator above did.
    """
    numbered = iter(range(len(nodes)))

    def build(call: CallSite | None) -> CatalystNode:
        number = next(numbered)
        node, known = nodes[number], facts[number]
        call = known.call or call
        children = tuple(build(call) for _ in range(node["num-children"]))
        return CatalystNode(_kind(node), node, children, call, known.delay, known.types, known.unmarked, known.identity)

    return build(None)


def expression_of(nodes: Sequence[Mapping[str, Any]]) -> Expression:
    """The expression that a list of nodes in preorder is."""
    rest = iter(nodes)

    def build() -> Expression:
        node = next(rest)
        children = tuple(build() for _ in range(node["num-children"]))
        return Expression(_kind(node), node, children)

    return build()


def _kind(node: Mapping[str, Any]) -> str:
    return str(node["class"]).rpartition(".")[2].rstrip("$")


def _nameless(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _nameless(one) for key, one in value.items() if key not in _NAMELESS}
    return [_nameless(one) for one in value] if isinstance(value, list) else value
