"""The pages of each rater as rows of a plan, with practice and checks."""
