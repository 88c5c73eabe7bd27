"""Models of choices: Bradley-Terry, Plackett-Luce and TrueSkill, with clustered standard errors."""
