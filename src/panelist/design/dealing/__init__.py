"""Who gets which trials, in which order."""
