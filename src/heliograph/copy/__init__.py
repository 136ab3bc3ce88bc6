"""The replication engine: fetch, prepare, produce, acknowledge. Does not use Spark."""
