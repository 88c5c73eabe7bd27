"""Reliability of ratings: one file per coefficient, intervals for any of them, and plain words."""
