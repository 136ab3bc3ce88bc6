"""The files that users bring: mm2.properties, Connect JSON, Strimzi and Kubernetes resources."""
