"""Batches and records, and what Java makes of them."""
