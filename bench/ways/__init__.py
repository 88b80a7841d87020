"""What the measurements of `bench/` share: servers to be reached, bare forwarders, clients, and tables of ratios."""
