"""What a copy loop writes and reports besides records: offsets, snapshots, offset syncs, receipts."""
