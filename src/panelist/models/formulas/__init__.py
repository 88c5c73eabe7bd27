"""A formula and a ratings table become matrices: y, X, and Z of each grouping factor."""
