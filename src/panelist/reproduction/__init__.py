"""Reproduction: two or more runs of one study compared, and how large a repeat must be."""
