"""The table of all passes: a row each, and what is known of it."""
