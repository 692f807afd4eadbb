"""One run of a stage: its state and names, its events for whoever watches, and its failures."""
