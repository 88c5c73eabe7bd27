"""Comparative judgements: pairs, choices of one, best-worst sets and rankings, and what follows from them."""
