"""Listeners of the REST API: sockets, TLS, HTTP, and limits that apply before the login."""
