"""Whether the answers of a datasheet fit each other and the form."""
