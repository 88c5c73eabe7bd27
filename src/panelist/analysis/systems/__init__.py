"""Systems compared criterion by criterion: estimates, pairs, ranks, effect sizes, sentences."""
