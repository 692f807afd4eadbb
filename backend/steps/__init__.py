"""The steps of a stage: typed passes, Inductor's own steps behind a bridge, users' hooks."""
