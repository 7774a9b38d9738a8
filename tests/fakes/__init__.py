"""Fakes that stand in for stores, clocks and ids."""
