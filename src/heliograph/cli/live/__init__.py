"""The live view of `run`, `serve` and `demo` on a terminal."""
