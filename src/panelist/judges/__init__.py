"""Judges beside people: machines that score outputs, what they are worth, and people's ratings corrected."""
