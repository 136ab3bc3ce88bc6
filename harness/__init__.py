"""What benchmarks, chaos, conformance, examples and tests share: clusters, certificates, mirrors, processes,
result files."""
