"""Benchmarks: one module a question, run as `python -m benchmarks.<name>`; each result is JSON with machine and commit."""
