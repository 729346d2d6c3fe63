"""DuckDB in this process: a database in memory, with the settings that all of ours have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streambound_runtime.errors import usage

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "threads": 1,
    "temp_directory": "",  # nothing is ever written
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "python_enable_replacements": False,
}


def connected(use: str, without: str, **more: str) -> DuckDBPyConnection:
    """A new database, without some of DuckDB's optimizers; raises JobError where what it is for lacks DuckDB."""
    try:
        import duckdb
    except ImportError as error:
        raise usage(f"{use} by DuckDB, which is not installed: pip install duckdb") from error
    database = duckdb.connect(config={**_SETTINGS, **more})
    database.execute("SET TimeZone = 'UTC'")
    database.execute(f"SET disabled_optimizers = '{without}'")
    return database
