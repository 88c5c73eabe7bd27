"""Balanced tuples for best-worst scaling."""
