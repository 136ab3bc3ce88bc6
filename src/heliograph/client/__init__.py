"""The only door to brokers: connections, security, fetching, producing, admin requests."""
