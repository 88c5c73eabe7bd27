"""What coefficients are computed from: sums over units, pairs of raters, moments, resamples."""
