"""What a copy loop writes and reports besides records: offsets, producer snapshots, offset syncs, receipts."""
