"""What a call of a target does besides computing its results, and what its results share."""
