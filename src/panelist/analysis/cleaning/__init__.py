"""From a ratings table to the rows that are analysed: checks, exclusions, what counts as one answer."""
