"""The same comparison made in another way, and where the conclusions differ."""
