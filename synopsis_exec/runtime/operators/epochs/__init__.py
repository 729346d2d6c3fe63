"""Queries over streams of rows with periods, evaluated epoch by epoch: from one frontier to the next."""
