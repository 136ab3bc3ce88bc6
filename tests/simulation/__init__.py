"""The real copy loop under simulated faults: virtual time, no sockets, no threads, every choice by a seed.

    mirror   a driver and its task, the real CopyLoop, which die together or one without the other
    driver   the real ObservedFlow, which leases the partition by what is on the clusters
    network  clients and connections: answers get lost, requests arrive late, connections break
    world    two clusters: a source log, target logs with Kafka's producer state, stored offsets, state topic
    faults   what happens to them, and how often
    oracle   what must hold at the end

`make simulate SEEDS=0-999` runs many seeds (`sweep`), `python -m simulation --trace SCENARIO SEED` shows one.
"""
