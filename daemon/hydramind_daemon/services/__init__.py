"""Use cases of the daemon. Knows the domain and its own ports, nothing else."""
