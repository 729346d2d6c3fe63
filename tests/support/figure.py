"""The paper's example as a catalog and a query."""

from __future__ import annotations

from typing import Any

FIGURE = "SELECT S.A, T.B FROM S, T, U WHERE S.I > T.J AND T.J > U.K AND S.A > T.B AND 0 < T.B AND T.B < 5"
FIGURE_CATALOG = {
    "streams": {
        "S": {"timestamp": "I", "columns": {"A": "bigint", "I": "bigint"}},
        "T": {"timestamp": "J", "columns": {"B": "bigint", "J": "bigint"}},
        "U": {"timestamp": "K", "columns": {"C": "bigint", "K": "bigint"}},
    }
}


def toml(catalog: dict[str, Any]) -> str:
    """A catalog of streams as TOML."""
    lines = []
    for name, body in catalog["streams"].items():
        columns = ", ".join(f'{column} = "{kind}"' for column, kind in body["columns"].items())
        lines += [f"[streams.{name}]", f'timestamp = "{body["timestamp"]}"', f"columns = {{ {columns} }}"]
    return "\n".join(lines)
