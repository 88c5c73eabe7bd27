"""Files of known programs: Mechanical Turk, Potato, Label Studio, Prolific."""
