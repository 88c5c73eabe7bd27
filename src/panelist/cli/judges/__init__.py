"""``panelist judges``: machines that score outputs, beside people."""
