"""HydraMind's wire contract."""
