"""Query to queries: the paper's preprocessing steps, one pass per file, and the registry of passes."""
