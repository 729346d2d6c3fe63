"""Certificates of circuits, checked again: which states the SQL needs, how large they are, and when they go."""
