"""Pages that show a compile: its stages, graphs, passes, times, and what failed."""
