"""A recorded transcript as a session's directory: replayed call by call, so that there is a window to report."""

from __future__ import annotations

from pathlib import Path

import attrs

from ctxgc.evaluation.transcripts import Transcript
from gc_core.errors import ContextOverflowError
from gc_core.plugins.manager import Plugins
from gc_core.providers import format_named
from gc_core.session.session import GCSession
from gc_core.values.config import GCConfig
from gc_core.values.messages import Role


def replay_into(
    directory: Path,
    transcript: Transcript,
    *,
    config: GCConfig,
    model: str | None = None,
    plugins: Plugins | None = None,
) -> int:
    """
    Replay a recorded session into an empty directory; returns how many calls did not fit the window.

    As ``replay`` does: every assistant message is a model call, and nothing is reserved for replies, which are known.

    Raises ConfigError for a strategy or option that is unknown or wrong, MessageError for a message that cannot be
    read, and LogError when the directory cannot be written.
    """
    config = attrs.evolve(config, output_reservation=0, reread_guard="off", max_total_tokens=None, tpm_budget=None)
    form, over = format_named(transcript.format), 0
    session = GCSession(config, format=transcript.format, model=model, plugins=plugins, directory=directory)
    with session:
        if transcript.system:
            names = ["base", *(f"part_{number}" for number in range(2, len(transcript.system) + 1))]
            session.system(**dict(zip(names, transcript.system, strict=True)))  # type: ignore[arg-type]  # no keyword
        if transcript.tools:
            session.tools(transcript.tools)
        for message in transcript.messages:
            if form.role(message) is not Role.ASSISTANT:
                session.append(message)
                continue
            over += not _fits(session)
            session.post_turn(message)
    return over


def _fits(session: GCSession) -> bool:
    try:
        session.pre_send()
    except ContextOverflowError:
        return False
    return True
