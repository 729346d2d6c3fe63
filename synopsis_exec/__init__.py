"""Plans, generated Spark jobs, their runtime and their measurement."""
