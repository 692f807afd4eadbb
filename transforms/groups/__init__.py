"""Independent ops of one form become one op over all of their operands.

A pass says what the form of an op is and what replaces a group; the engine finds the groups.
"""
