"""Ratings become an analysis: systems compared, with their uncertainty."""
