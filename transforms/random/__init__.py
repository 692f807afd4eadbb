"""Random draws: replaced by draws of Inductor's generator; seeds, offsets and permutations."""
