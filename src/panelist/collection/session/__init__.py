"""One rater's way through the study: what comes next, what is stored, what follows from an answer."""
