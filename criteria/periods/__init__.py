"""SEQ VT over streams of rows with periods: a file a proposition, and what decides by them (docs/theory-times.md)."""
