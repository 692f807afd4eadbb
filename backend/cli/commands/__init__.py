"""The subcommands of `xductor`, one per module."""
