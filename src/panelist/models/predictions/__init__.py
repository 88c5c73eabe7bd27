"""What a fit says about ratings, those it has seen and those it has not."""
