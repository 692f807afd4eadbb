"""What a pass is: its class, its numerics, what counts and watches it."""
