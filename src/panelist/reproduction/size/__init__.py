"""How large a repeat must be."""
