"""Rewrites of matrix products and the ops around them."""
