"""The only door to brokers: connections, routing, fetch, produce, admin, compacted logs."""
