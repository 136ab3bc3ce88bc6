"""Connector and worker configurations, and their validation as Connect answers it."""
