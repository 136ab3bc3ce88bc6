"""Connections to brokers, and which broker a request goes to."""
