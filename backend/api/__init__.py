"""xductor: a typed intermediate IR for PyTorch compiler passes."""
