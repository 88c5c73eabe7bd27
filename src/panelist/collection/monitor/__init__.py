"""How collecting goes: counts, flags, agreement so far, pay, and what a researcher does about it."""
