"""A preregistration filled from study, plan and power analysis."""
