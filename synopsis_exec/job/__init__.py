"""The parts of a generated job that are the same for every query; `codegen` copies them, jobs never import them."""
