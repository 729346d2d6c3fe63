"""Query to verdict: the paper's Theorems 1 and 2, and the bag and set criteria that decide."""
