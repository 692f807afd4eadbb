"""The user's own passes in a stage: hooks, and rewrites that a compile was given."""
