"""Simulated raters who answer the real pages over HTTP, knowing only what a page shows."""
