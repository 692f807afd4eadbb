"""The steps of a stage: typed passes, Inductor's own behind a bridge, the hooks of users."""
