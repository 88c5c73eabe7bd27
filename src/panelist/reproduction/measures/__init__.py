"""How alike two studies came out: scores, orders, labels, findings."""
