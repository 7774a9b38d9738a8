"""MCP front end: stdio shim and session host."""
