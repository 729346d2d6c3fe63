"""The transfer rules of the facts: one an operator, from the facts of its inputs."""
