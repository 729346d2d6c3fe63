"""dbt's `manifest.json`: its sources, and its seeds, as far as their columns have types."""

from __future__ import annotations

from msgspec import Struct, field

from streambound.analyzer.errors import InputError
from streambound.analyzer.json_models import parsed
from streambound.importing.tables import ImportedTable, column


class DbtColumn(Struct, frozen=True):
    """A column as a YAML file describes it."""

    name: str
    data_type: str | None = None


class DbtTable(Struct, frozen=True):
    """A source, or a node such as a seed or a model: ``identifier`` is what the database calls a source."""

    name: str
    resource_type: str = ""
    identifier: str | None = None
    loaded_at_field: str | None = None
    columns: dict[str, DbtColumn] = field(default_factory=dict)
    original_file_path: str = ""


class DbtManifest(Struct, frozen=True):
    """dbt's manifest of a project."""

    sources: dict[str, DbtTable]
    nodes: dict[str, DbtTable] = field(default_factory=dict)


def dbt_manifest(text: str, name: str, file: str) -> tuple[ImportedTable, ...]:
    """The sources and seeds of a project, called as `source` and `ref` call them; raises InputError for none.

    The time at which a source is loaded, ``loaded_at_field``, is taken for its application time; seeds are relations.
    """
    remedy = "dbt parse writes one to target/manifest.json"
    manifest = parsed(text, file).read(DbtManifest, "not a manifest of dbt", remedy, closed=False)
    seeds = [one for one in manifest.nodes.values() if one.resource_type == "seed"]
    found = [_table(one, file) for one in (*manifest.sources.values(), *seeds) if name in ("", one.name)]
    if not found:
        raise InputError("the manifest has no source and no seed of that name", file=file, line=1, remedy=remedy)
    return tuple(found)


def _table(table: DbtTable, file: str) -> ImportedTable:
    notes, columns = list[str](), []
    for one in table.columns.values():
        untyped = f"column {one.name} is left out: it has no data_type"
        read = untyped if one.data_type is None else column(one.name, one.data_type.lower())
        if isinstance(read, str):
            notes.append(read)
        else:
            columns.append(read)
    if table.identifier not in (None, table.name):
        notes.append(f"{table.identifier} is called {table.name}, as queries call it")
    place, relation = table.original_file_path or file, table.resource_type == "seed"
    timestamp = None if relation else table.loaded_at_field
    return ImportedTable(table.name, tuple(columns), place, timestamp, None, relation or None, None, tuple(notes))
