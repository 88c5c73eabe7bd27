"""Estimates become statements: tests, intervals, means, contrasts, and their adjustment."""
