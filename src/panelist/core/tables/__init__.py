"""Tables of ratings, read from any file or frame and written again."""
