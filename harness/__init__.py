"""What benchmarks, chaos and conformance share: clusters, mirrors, processes, log ends, result files."""
