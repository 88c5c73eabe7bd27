"""The sections of a study file, one model each."""
