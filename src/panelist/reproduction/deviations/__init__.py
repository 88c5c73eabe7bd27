"""What a repeat does differently from its original, and what only the authors can answer."""
