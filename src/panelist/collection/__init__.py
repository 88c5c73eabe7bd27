"""Collecting ratings: the rating pages, the researcher's dashboard, and the store that loses nothing."""
