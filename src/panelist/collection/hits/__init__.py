"""Old HITs shown again: the template filled, kept in its frame, and checked."""
