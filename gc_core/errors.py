"""
Every error that gc-core raises, as one tree.

::

    GCError
    ├── ConfigError                 a key or value of the configuration
    │   ├── UnknownStrategyError    no plugin offers the named strategy
    │   └── UnknownEncodingError    no such token encoding
    ├── MessageError                a message that cannot be read
    ├── SourceError                 a change of a source that is refused
    ├── PluginError                 a plugin broke the contract
    │   ├── RemovalError            a proposed removal that may not be carried out
    │   └── SummaryError            a summarizer failed to write a text
    ├── StateError                  an invalid task state, from an extractor or a file
    ├── RuleError                   a request that would break a provider's rule
    ├── MemoryFileError             a memory file that cannot be viewed or changed as a model asked
    ├── TranscriptError             a transcript file that cannot be read
    ├── ExecutorError               a pool or cluster that cannot be reached, or that lost a worker
    ├── LogError                    a session's files cannot be read or written, or disagree
    ├── SessionClosedError          a call on a session after close(), or in a forked child
    ├── InconsistentReplyError      a plugin found a reply inconsistent; it was not taken
    ├── SpendLimitError             the session has reached its spending limit
    ├── LeaseError                  tokens that cannot be reserved, or a lease that has ended
    ├── RereadLoopError             the agent keeps asking for what was collected
    └── ContextOverflowError        the content that must stay does not fit
"""

from __future__ import annotations

from collections.abc import Mapping


class GCError(Exception):
    """The root of all errors of gc-core."""


class ConfigError(GCError):
    """A configuration key or value is wrong; names key, value and what is allowed."""


class UnknownStrategyError(ConfigError):
    """No installed plugin offers the named strategy."""


class UnknownEncodingError(ConfigError):
    """The named token encoding is not available offline."""


class MessageError(GCError):
    """A message is malformed; names the field and what was expected."""


class SourceError(GCError):
    """A source change is refused, for instance because it is over the source's cap."""


class PluginError(GCError):
    """A plugin raised an error, returned something invalid or ran out of time."""


class RemovalError(PluginError):
    """A strategy proposed a removal that the core refuses; names the reason."""


class SummaryError(PluginError):
    """A summarizer failed to write a text; names the summarizer and what it returned instead."""


class StateError(GCError):
    """A task state is invalid; names the path in it and what was expected."""


class RuleError(GCError):
    """A rendered request breaks a provider's rule; names each violation."""


class MemoryFileError(GCError):
    """
    A memory file cannot be viewed or changed as the model asked; nothing has changed, and the message is meant for the
    model.
    """


class TranscriptError(GCError):
    """A transcript cannot be read; names file, line, field and what was expected."""


class ExecutorError(GCError):
    """A pool of processes or a cluster cannot be reached or lost a worker; names it and what can be done about it."""


class LogError(GCError):
    """
    A session's files cannot be read or written, or contradict each other; names the file, the bytes
    and what is wrong.
    """


class SessionClosedError(GCError):
    """The session was closed, or belongs to the process that this one was forked from; it accepts no further calls."""


class InconsistentReplyError(GCError):
    """
    A plugin found a reply inconsistent with the conversation; the reply was not appended.

    Attributes:
        reason: Why, in the plugin's words.
        recovered: The window was restored, and the call may be repeated with what ``pre_send`` returns.

    """

    def __init__(self, reason: str, *, recovered: bool, text: str) -> None:
        self.reason = reason
        self.recovered = recovered
        super().__init__(f"the reply is inconsistent: {reason}; {text}")


class RereadLoopError(GCError):
    """
    The agent keeps asking for what was collected, although it was warned; no request was made.

    Raised by every ``pre_send`` until something new arrives: a user's message, or a result that differs.

    Attributes:
        what: The words that asked for the collected content, or the call that repeats.
        times: How often, with nothing new in between.

    """

    def __init__(self, *, what: str, times: int, item: str) -> None:
        self.what = what
        self.times = times
        where = f", last in {item}" if item else ""
        super().__init__(
            f"the agent goes in circles: {what!r} came {times} times with nothing new between{where}, though it was"
            " told to go on from the summaries. What was collected comes back with restore() or recall(); a new user"
            " message lets it go on, and reread_guard = 'warn' ends no loop"
        )


class SpendLimitError(GCError):
    """
    The session has used the tokens that it may spend in total; no request was made and nothing has changed.

    Attributes:
        spent: Input and output tokens of all its calls.
        allowed: ``max_total_tokens``.

    """

    def __init__(self, *, spent: int, allowed: int) -> None:
        self.spent = spent
        self.allowed = allowed
        super().__init__(
            f"the session has spent {spent:,} tokens and may spend max_total_tokens = {allowed:,}; no request was made."
            " It goes on after session.allow(max_total_tokens=...), or opened again with a larger one, None for no"
            " limit"
        )


class LeaseError(GCError):
    """
    Tokens cannot be reserved for a sub-task, or the lease has ended; nothing has changed.

    Attributes:
        asked: Tokens that were requested; 0 if none were.
        free: Tokens that neither the request nor a lease uses.
        leased: Leased tokens by the name of the lease.

    """

    def __init__(self, text: str, *, asked: int = 0, free: int = 0, leased: Mapping[str, int] | None = None) -> None:
        self.asked = asked
        self.free = free
        self.leased = dict(leased or {})
        super().__init__(text)


class ContextOverflowError(GCError):
    """
    The content that may not be removed is larger than the window.

    Attributes:
        limit: Tokens that a request may have (``context_limit - output_reservation``).
        needed: Tokens of the request as it is.
        owners: Tokens by owner (source or turn), largest first.

    """

    def __init__(self, *, limit: int, needed: int, owners: Mapping[str, int], hint: str = "") -> None:
        self.limit = limit
        self.needed = needed
        self.owners = dict(sorted(owners.items(), key=lambda pair: (-pair[1], pair[0])))
        named = ", ".join(f"{owner} {tokens:,}" for owner, tokens in self.owners.items())
        super().__init__(
            f"the request needs {needed:,} tokens and may have {limit:,}, which is {needed - limit:,} too many; "
            f"nothing more may be removed. Held by: {named}{hint}"
        )
