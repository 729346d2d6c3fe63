"""Certificates of bounds checked again, by a closure and by counts of their own."""
