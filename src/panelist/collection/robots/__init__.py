"""Simulated raters who answer the real pages over HTTP, knowing of a page only what it shows."""
