"""What torch-level graphs before autograd write, and what the graphs around them do."""
