"""What tests look at inside a session: the one place that knows where a session keeps it."""


def window_of(session):
    """The window: a ``Context``."""
    return session._context


def state_of(session):
    """The state that the recorder owns."""
    return session._state


def recorder_of(session):
    """What writes first, then acts."""
    return session._recorder


def store_of(session):
    """The files."""
    return session._store


def counter_of(session):
    """What counts tokens."""
    return session._counter
