"""Beyond one coefficient: each rater, groups of raters, stability, sources of variance, votes."""
