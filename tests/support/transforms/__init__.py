"""Chains of transformations and random records for them, compared with Kafka's own classes."""
