"""Raters from panels: Prolific from the draft to the last payment, any other panel as declared."""
