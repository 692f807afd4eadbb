"""The types that the results of an op should have."""
