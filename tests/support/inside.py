"""Access to a session's internals for tests: the one place that knows where a session keeps them."""


def core_of(session):
    """The collaborators of a session."""
    return session._core


def runtime_of(session):
    """The runtime that the collaborators share; a reader has it too."""
    return session._runtime if hasattr(session, "_runtime") else session._core.runtime


def window_of(session):
    """The window: a ``Context``."""
    return runtime_of(session).context


def state_of(session):
    """The state that the recorder owns."""
    return runtime_of(session).state


def recorder_of(session):
    """The recorder, which writes first, then acts."""
    return runtime_of(session).recorder


def store_of(session):
    """The files."""
    return runtime_of(session).store


def counter_of(session):
    """The token counter."""
    return runtime_of(session).counter


def meter_of(session):
    """The meter of the window."""
    return session._core.meter


def moment_of(session):
    """The window as the scheduler sees it now."""
    return meter_of(session).moment()


def scheduler_of(session):
    """The scheduler, which decides when a collection is due."""
    return meter_of(session).scheduler


def collections_of(session):
    """The runner of collections."""
    return session._core.collections
