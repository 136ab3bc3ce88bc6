"""`make image`: builds the image of deploy/docker, checks it, runs it hardened, and mirrors with it between real
brokers. docs/containers.md"""
