"""Everything that is needed to repeat a study, in one zip file, and its verification."""
