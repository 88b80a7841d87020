"""The transparency table: what the protocol's conformance suite says of a server, with and without a tap before it."""
