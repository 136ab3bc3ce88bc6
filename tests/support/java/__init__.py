"""Java's own tools, run as they are: the oracle."""
