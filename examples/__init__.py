"""The stories of users of MirrorMaker 2, each on real brokers: `make examples`."""
