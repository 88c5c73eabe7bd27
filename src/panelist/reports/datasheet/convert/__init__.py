"""HEDS 2.x to 3.0 and back, and two sheets compared."""
