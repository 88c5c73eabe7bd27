"""Figures for papers, in one style."""
