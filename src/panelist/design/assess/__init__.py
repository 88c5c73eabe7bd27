"""What a plan is worth: balance, what it can estimate, time and cost."""
