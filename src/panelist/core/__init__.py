"""What all other packages build on; it imports none of them."""
