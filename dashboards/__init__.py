"""Proves metrics, dashboards and alerts: a real Prometheus scrapes a live mirror (`make dashboards`)."""
