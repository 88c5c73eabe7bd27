"""The rating page as prompts for a judge, and its answers read back."""
