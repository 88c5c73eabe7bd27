"""Files from elsewhere as tables: grids, text tables, nested records."""
