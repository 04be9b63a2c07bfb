"""What tests look at inside a session: the one place that knows where a session keeps it."""


def core_of(session):
    """The collaborators of a session."""
    return session._core


def runtime_of(session):
    """What the collaborators share; a reader has it too."""
    return session._runtime if hasattr(session, "_runtime") else session._core.runtime


def window_of(session):
    """The window: a ``Context``."""
    return runtime_of(session).context


def state_of(session):
    """The state that the recorder owns."""
    return runtime_of(session).state


def recorder_of(session):
    """What writes first, then acts."""
    return runtime_of(session).recorder


def store_of(session):
    """The files."""
    return runtime_of(session).store


def counter_of(session):
    """What counts tokens."""
    return runtime_of(session).counter


def meter_of(session):
    """What measures the window."""
    return session._core.meter


def moment_of(session):
    """The window as the scheduler sees it now."""
    return meter_of(session).moment()


def scheduler_of(session):
    """What decides when a collection is due."""
    return meter_of(session).scheduler


def collections_of(session):
    """What runs collections."""
    return session._core.collections
