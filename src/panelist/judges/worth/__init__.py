"""What a judge is worth beside people: one file per idea, and all of them together."""
