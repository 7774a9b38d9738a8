"""The `hydramind` shell."""
