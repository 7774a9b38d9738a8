"""Benchmarks: one module a question, each run as `python -m benchmarks.<name>`, each result a JSON file with machine and commit."""
