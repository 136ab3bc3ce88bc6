"""The page at /ui: what operators look at, rendered by the server, live by server-sent events."""
