"""The tables and sentences of a reproduction report."""
