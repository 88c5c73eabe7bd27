"""Judges beside people: what machines' scores are worth, and what people still must rate."""
