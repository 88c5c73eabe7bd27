"""Prolific's API: one request (wire), what can be asked (api), and the same without sending (dry_run)."""
