"""The parts of a partition's state; only `copy/partition.py` changes them."""
