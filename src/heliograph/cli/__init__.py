"""The `heliograph` command."""
