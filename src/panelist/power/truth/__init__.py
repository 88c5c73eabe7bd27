"""What ratings are simulated from: variances, thresholds, effects; from presets or a pilot."""
