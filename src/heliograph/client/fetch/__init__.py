"""Record batches from their leaders, and readers of whole logs."""
