"""Typed Python client of the HydraMind daemon."""
