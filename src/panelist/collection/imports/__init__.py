"""What closed platforms and other tools left behind: their result files read, their tasks run again."""
