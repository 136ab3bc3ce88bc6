"""What a shape measures beside throughput: latency, resuming, many topics, repacking."""
