"""No module needs itself: imports within functions and those for types count like any other."""

from __future__ import annotations

import grimp
import networkx


def test_there_are_no_import_circles() -> None:
    imports = grimp.build_graph("streambound", "streambound_runtime", cache_dir=None)
    graph = networkx.DiGraph(
        (importer, imported)
        for importer in imports.modules
        for imported in imports.find_modules_directly_imported_by(importer)
    )
    assert graph.has_edge("streambound.criteria.check", "streambound.criteria.repairs.repair"), "in a function"
    assert [sorted(circle) for circle in networkx.strongly_connected_components(graph) if len(circle) > 1] == []
