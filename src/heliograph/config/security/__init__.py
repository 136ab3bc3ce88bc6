"""Logins, keys and stores that settings name, users of REST, and what a REST request may name."""
