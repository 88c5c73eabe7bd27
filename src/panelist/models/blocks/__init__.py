"""The matrix H = V'WV + I of a mixed model: its pattern, factor, solutions and inverse."""
