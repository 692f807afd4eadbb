"""Values that are one number everywhere."""
