"""The end of the post-grad stage, which brings writes back into a functional graph."""
