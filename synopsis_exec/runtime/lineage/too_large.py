"""The limit of the work for one formula, beyond which nothing is estimated."""

from __future__ import annotations

NODES = 100_000
"""The nodes that a decision about one formula may take, unless `lineage_nodes` says otherwise."""


class LineageTooLargeError(Exception):
    """A formula took more nodes than it may; ``variables`` is how many it has."""

    def __init__(self, variables: int, nodes: int) -> None:
        super().__init__(f"a lineage of {variables:,} variables takes more than {nodes:,} nodes")
        self.variables = variables
        self.nodes = nodes


class Budget:
    """Counts the nodes that a decision about a formula takes."""

    def __init__(self, variables: int, nodes: int) -> None:
        self.variables = variables
        self.nodes = self.left = nodes

    def take(self) -> None:
        """One more node; raises LineageTooLargeError if there is none left."""
        if not self.left:
            raise LineageTooLargeError(self.variables, self.nodes)
        self.left -= 1
