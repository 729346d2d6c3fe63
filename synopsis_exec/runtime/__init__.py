"""What runs beside a user's own code: it is installed as `streambound_runtime` and imports nothing of `streambound`."""
