"""``panelist reproduce`` and ``panelist reproduce size``: repeats compared, and how large to make them."""
