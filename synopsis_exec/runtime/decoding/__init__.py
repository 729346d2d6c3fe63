"""One place where it is decided whether a row is good: for every source, on the driver and on executors."""
