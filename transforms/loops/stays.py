"""Why a call of a graph stays as it is."""


class Stays(Exception):
    """A call cannot be replaced; the message says why."""
