"""Random draws: Inductor's generators for PyTorch's, seeds, offsets, permutations."""
