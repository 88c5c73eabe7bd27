"""``panelist heds``: the Human Evaluation Datasheet, filled in, checked, converted and compared."""
