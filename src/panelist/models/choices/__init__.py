"""Mixed models of choices: stages of Plackett and Luce with random preferences, and pairs as differences."""
