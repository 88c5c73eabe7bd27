"""Who rates what in a simulated study."""
