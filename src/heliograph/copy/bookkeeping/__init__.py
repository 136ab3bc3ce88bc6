"""What is written and told beside the records: offsets, producer snapshots, offset syncs, receipts."""
