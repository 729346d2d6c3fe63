"""What a gate adds to single verdicts: many files at once, and what a team has agreed on about their findings."""
