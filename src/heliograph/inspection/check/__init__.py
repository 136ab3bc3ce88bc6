"""`heliograph check`: connections, TLS, logins and rights of a mirror on all of its clusters."""
