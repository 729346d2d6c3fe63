"""Which files of the runtime may speak of values without a type, and why: no others, and none that need not."""

from __future__ import annotations

import ast

from support.command_line import ROOT

RUNTIME = ROOT / "synopsis_exec" / "runtime"
REASONS = {
    "Spark: the DataFrames that a query is given by name, which it types as anything": "periods/main.py",
}


def test_only_these_files_have_values_without_a_type() -> None:
    found = set()
    for file in RUNTIME.rglob("*.py"):
        names = (node for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if isinstance(node, ast.Name))
        if any(name.id == "Any" for name in names):
            found.add(file.relative_to(RUNTIME).as_posix())
    assert found, "the runtime was read"
    assert found == {name for names in REASONS.values() for name in names.split()}
