"""Reading sources: which files there are Spark says, what is in them Arrow; rows of other sources Spark brings."""
