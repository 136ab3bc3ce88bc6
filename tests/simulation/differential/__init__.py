"""Random operation sequences against the model and against a real broker, which must answer alike.

A sequence has two partitions and five producers of its own, so that many run on one broker at a time. The
model runs first and decides what comes next (`generate.py`); the real broker repeats it (`real.py`). Producer
ids and leader epochs differ between the two: both are compared by the order in which they were first seen.
"""
