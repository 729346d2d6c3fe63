"""The algebra under a query: a tree of relational operators, before any of it is decided."""
