"""Checks evidence by other means than those that produced it; shares no code with the criteria."""
