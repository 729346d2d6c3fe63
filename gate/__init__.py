"""What a gate decides beyond verdicts: what is accepted, what is repaired, and what changed since."""
