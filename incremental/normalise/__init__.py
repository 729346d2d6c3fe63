"""Passes from tree to tree, which say the same with fewer kinds of operators."""
