"""What a Connect worker knows and does: connectors, their states and offsets, one group of workers."""
