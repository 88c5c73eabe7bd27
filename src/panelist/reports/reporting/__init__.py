"""What a report of a human evaluation should state, by published lists, and whether this one does."""
