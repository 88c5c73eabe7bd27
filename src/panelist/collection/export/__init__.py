"""What was collected, as files."""
