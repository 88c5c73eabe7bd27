"""Fill numba's cache: ``python -m panelist.models.warm``, called once by ``make setup``."""
