"""What a fit says of ratings, those it has seen and those it has not."""
