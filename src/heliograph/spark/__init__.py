"""The only door to Spark: the query, its tasks, and the channel between them and the driver."""
