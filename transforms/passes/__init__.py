"""The pass class, its numerics and results, and how its applications are counted and watched."""
