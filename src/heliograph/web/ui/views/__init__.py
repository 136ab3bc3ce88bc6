"""What each page shows: pure functions from a snapshot to the values of a template."""
