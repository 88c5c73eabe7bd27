"""The smallest design that reaches a target power."""
