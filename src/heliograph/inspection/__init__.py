"""Observes the clusters of a mirror, for `plan` and `status`. Nothing here changes a cluster."""
