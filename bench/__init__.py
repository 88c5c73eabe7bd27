"""How fast Panelist is (``python -m bench``), and R's answers for its tests (``bench.references``)."""
