"""TLS, SASL, key stores, and how logins travel to executors."""
