"""The engine: operators of a circuit as SQL over small state tables, run once a tick by DuckDB."""
