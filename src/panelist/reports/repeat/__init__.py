"""The twelve steps of a repeat, from an original's study, ratings or datasheet."""
