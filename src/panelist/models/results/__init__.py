"""What a fit gives: tables, tests, and how it is displayed."""
