"""Checks certificates of SEQ statements over streams again (P1 to P4), with code of its own."""
