"""What can be done to the store, each a small frozen operation that may be repeated."""
