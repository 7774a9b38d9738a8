"""Version 1 of the contract: messages and stubs, generated from the .proto files beside them."""
