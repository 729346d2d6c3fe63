"""Independent checks: a brute-force oracle, random queries and streams, and a small solver for witnesses."""
