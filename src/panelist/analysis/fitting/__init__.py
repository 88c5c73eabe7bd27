"""Which model is fitted: the largest that design and ratings support, and what a large table allows."""
