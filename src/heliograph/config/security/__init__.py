"""Reads logins, keys and stores from settings, the users of REST, and what a REST request may name."""
