"""Passes from circuit to circuit, one a file; `streambound.incremental.pipeline` has their order."""
