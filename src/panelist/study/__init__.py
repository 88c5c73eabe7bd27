"""The study: what a person writes in study.yaml, read, checked as a whole, and frozen."""
