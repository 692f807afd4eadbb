"""Passes on control flow: loops and branches, and higher-order ops over rows that become loops."""
