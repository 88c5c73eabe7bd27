"""Results on paper and on screen."""
