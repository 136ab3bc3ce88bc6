"""The connectors that a service runs, each with its threads and schedules."""
