"""The parts of a partition's state: each is changed by `copy/partition.py` alone."""
