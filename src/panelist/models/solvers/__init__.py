"""Matrices become estimates: likelihoods, their gradients, and the search for their maximum, all compiled."""
