"""Running a module on real values, and comparing two modules."""
