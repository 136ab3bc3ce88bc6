"""Heliograph's Grafana dashboards, built with Grafana's own model (grafana-foundation-sdk)."""
