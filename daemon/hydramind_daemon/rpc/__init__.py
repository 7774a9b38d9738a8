"""The gRPC face: thin converters over the services."""
