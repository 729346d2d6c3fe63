"""What runs beside a user's own code: it is installed as `streambound_runtime` and imports nothing of `streambound`."""

__version__ = "0.2.0"
"""That of streambound: a job runs with the runtime that it was compiled for."""
