"""What torch-level graphs before autograd write to, and what the graphs around them do."""
