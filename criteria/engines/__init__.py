"""What Spark and Flink keep in state for a query as written: models of their operators, checked against measurements.

The verdict of `criteria` is what is possible; a model says what the user's own engine does: what each of its operators
keeps, by what rows go, what the engine refuses, and where it drops results without a word.
"""
