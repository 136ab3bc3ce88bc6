"""Record batches to their leaders, with sequence numbers and in transactions."""
