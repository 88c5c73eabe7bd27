"""``panelist power``, ``panelist power paper`` and ``panelist size``: studies, simulated."""
