"""Passes at the end of the post-grad stage that turn functional ops into in-place ops."""
