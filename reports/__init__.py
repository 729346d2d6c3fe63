"""One file per output format of a verdict."""
