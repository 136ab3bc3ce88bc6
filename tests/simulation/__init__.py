"""The real copy loop under simulated faults: virtual time, no sockets, no threads, every choice by a seed.

    mirror   the driver's start of a task and the real Link, with its producer, fetcher and recovery
    network  clients and connections: answers get lost, requests arrive late, connections break
    world    two clusters: a source log, target logs with Kafka's producer state, stored offsets, state topic
    faults   what happens to them, and how often
    oracle   what must hold at the end

`make simulate SEEDS=0-999` runs many seeds, `python -m simulation --trace SCENARIO SEED` shows one.
"""
