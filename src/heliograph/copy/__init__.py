"""The replication engine: fetch, prepare, produce, acknowledge. Knows nothing of Spark."""
