"""The search for the maximum of a likelihood."""
