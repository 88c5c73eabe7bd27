"""Whether a fitted model suits the ratings: residuals, proportional odds, thresholds, predicted shares."""
