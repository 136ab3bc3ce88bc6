"""Topics, records, groups and users of real clusters."""
