"""Reads the formats of configurations: mm2.properties, Connect JSON, Strimzi and Kubernetes resources."""
