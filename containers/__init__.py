"""`make image`: builds the image of deploy/docker, runs it hardened, and mirrors with it between brokers.
docs/containers.md"""
