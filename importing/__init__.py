"""Catalogs from what a team has already: Flink's DDL, Spark's schemas, Avro's, and the tables of a Spark session."""
