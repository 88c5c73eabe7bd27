"""Reproduction reports and the tables of other tools, as files."""
