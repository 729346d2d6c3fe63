"""The frontier: from what the inputs promise, which timestamps are closed; and how many rows the open ones may have."""
