"""Convolutions and products of 8 and 4 bits, and what quantises and dequantises their operands."""
