"""Listeners: sockets, TLS, HTTP, and limits that hold before a request is authenticated."""
