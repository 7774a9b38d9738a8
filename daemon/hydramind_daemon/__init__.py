"""The coordinated writer: store, services, gRPC and lifecycle."""
