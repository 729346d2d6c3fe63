"""The registry of what catalogs are imported from: add one by adding a file and a line here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from streambound.importing.avro import avro_schema
from streambound.importing.dbt import dbt_manifest
from streambound.importing.flink import flink_ddl
from streambound.importing.spark_schema import spark_schema
from streambound.importing.tables import ImportedTable


class ImportFormat(Struct, frozen=True):
    """A format: its name, the suffixes of its files, and how a text is read: ``read(text, name, file)``."""

    name: str
    suffixes: tuple[str, ...]
    read: Callable[[str, str, str], tuple[ImportedTable, ...]]


FORMATS: tuple[ImportFormat, ...] = (
    ImportFormat("flink", (".sql", ".ddl"), flink_ddl),
    ImportFormat("ksqldb", (), flink_ddl),
    ImportFormat("risingwave", (), flink_ddl),
    ImportFormat("dbt", (), dbt_manifest),
    ImportFormat("spark", (".json",), spark_schema),
    ImportFormat("avro", (".avsc",), avro_schema),
)


def format_of(file: Path) -> ImportFormat | None:
    """The format that a file's suffix says."""
    return next((form for form in FORMATS if file.suffix.lower() in form.suffixes), None)
