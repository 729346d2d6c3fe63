"""The modules as a whole: none needs itself, and a class's name says which class is meant."""

from __future__ import annotations

import ast
import tomllib
from collections import defaultdict
from functools import cache
from pathlib import Path

import grimp
import networkx

from support.command_line import ROOT

FOLDERS = {"streambound": ROOT, "streambound_runtime": ROOT / "synopsis_exec" / "runtime"}
PACKAGES = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["packages"]


@cache
def _modules() -> list[tuple[Path, ast.Module]]:
    folders = [FOLDERS[package].joinpath(*below) for package, *below in (name.split(".") for name in PACKAGES)]
    files = [file for folder in folders for file in folder.glob("*.py")]
    return [(file, ast.parse(file.read_text(encoding="utf-8"))) for file in files]


def test_there_are_no_import_circles() -> None:
    """Imports within functions and those for types count like any other."""
    imports = grimp.build_graph("streambound", "streambound_runtime", cache_dir=None)
    graph = networkx.DiGraph(
        (importer, imported)
        for importer in imports.modules
        for imported in imports.find_modules_directly_imported_by(importer)
    )
    assert graph.has_edge("streambound.gate.judging", "streambound.criteria.repairs.repair"), "in a function"
    assert [sorted(circle) for circle in networkx.strongly_connected_components(graph) if len(circle) > 1] == []


def test_there_is_one_class_of_each_name() -> None:
    """In the package and in the runtime together: a compiled job spells its plan with the runtime's."""
    places = defaultdict(list)
    for file, tree in _modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(str(file.relative_to(ROOT)))
    assert {file.startswith("synopsis_exec/runtime/") for files in places.values() for file in files} == {False, True}
    assert {name: files for name, files in places.items() if len(files) > 1} == {}


def test_no_class_is_derived_from_one_of_sqlglot() -> None:
    """Another package may bring ``sqlglotc``, the compiled build: its classes refuse to be derived from."""
    derived, modules = [], 0
    for file, tree in _modules():
        theirs = {
            alias.asname or alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "sqlglot"
            for alias in node.names
        }
        modules += bool(theirs)
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                names = {ast.unparse(base).split(".")[0] for base in node.bases}
                derived += [f"{file.relative_to(ROOT)}:{node.lineno}"] * bool(names & theirs)
    assert modules > 50 and derived == []
