"""Ops of one form that do not depend on each other, as one op over all of their operands.

A pass says what the form of an op is, and what does a group at once; the engine finds the groups.
"""
