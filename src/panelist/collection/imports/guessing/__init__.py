"""What the columns of an unknown file hold, with a reason for every guess."""
