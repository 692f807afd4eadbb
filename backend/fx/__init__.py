"""IR to FX graph."""
