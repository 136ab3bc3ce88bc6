"""Kafka Connect's transformations and predicates over mirrored records, without a JVM. Pure."""
