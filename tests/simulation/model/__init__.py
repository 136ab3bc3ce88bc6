"""A model of Kafka's brokers, as of version 4.3: logs, producer state, transactions, requests.

It is deterministic: no socket, no thread, no clock, no random number. `simulation/differential` runs random
operation sequences against it and against a real broker. Each file names the class of Kafka it follows.
"""
