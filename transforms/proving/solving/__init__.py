"""Decides whether two terms are equal: by z3, by normal forms of sums, by how often each rounds."""
