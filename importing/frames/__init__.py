"""PySpark's DataFrames: the plan of one is read, and written as SQL that the analyzer reads, with its streams."""
