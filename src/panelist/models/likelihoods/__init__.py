"""Likelihoods of ratings with their gradients and Hessians."""
