"""The only door to Spark: leases in, copy in the tasks, receipts out."""
