"""Kafka Connect's REST API over a herder."""
