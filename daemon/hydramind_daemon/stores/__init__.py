"""Stores: adapters of the services' ports."""
