"""The report of an analysis: one page, and the files beside it."""
