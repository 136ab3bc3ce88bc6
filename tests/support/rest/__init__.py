"""Workers and their REST API."""
