"""Handlers of the REST API's paths, and their OpenAPI description."""
