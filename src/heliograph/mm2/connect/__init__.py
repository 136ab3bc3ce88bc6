"""The records of Connect's own topics: configurations, offsets, statuses."""
