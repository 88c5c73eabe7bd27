"""What everything stands on, and what imports nothing of ours."""
