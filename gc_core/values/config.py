"""The configuration of a session: one value, validated when it is created."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from gc_core.errors import ConfigError
from gc_core.values.option_secrets import without_option_secrets
from gc_core.values.policy import GCPolicy
from gc_core.values.provider_edits import ProviderEdits
from gc_core.values.validators import check_kind, is_number, of_kind, optional, percent, whole

FILES, SQLITE, MEMORY = "files", "sqlite", "memory"
"""The names of gc-core's own implementations."""

ROLLBACK, UNDO, RAISE = RECOVERIES = ("rollback_to_checkpoint", "undo_last", "raise")
"""Actions when a plugin finds a reply inconsistent."""

OFF, WARN, RAISE = GUARDS = ("off", "warn", "raise")
"""Modes of the re-read guard: do nothing, warn the agent, or warn it and end the loop if that does not help."""

FIVE_MINUTES, ONE_HOUR = CACHE_TTLS = ("5m", "1h")
"""How long a provider keeps a cached prefix after its last use, if the caller can choose."""

HOW_TO_MAKE_ONE = "load_config(path) reads a TOML file, load_config(**values) takes a dict's values"
"""The end of an error about something that is no configuration."""

EXCLUDE = "exclude"
"""Used instead of a policy for a tool: its results are never stubbed, and leave only with their whole unit."""


_flag = of_kind(bool, "true or false")


def _one_of(allowed: tuple[str, ...]) -> Any:
    def check(instance: object, attribute: attrs.Attribute[Any], value: Any) -> None:  # noqa: ARG001 - attrs' signature
        if value not in allowed:
            raise ConfigError(f"{attribute.name} = {value!r}: expected one of {list(allowed)}")

    return check


def _betas(value: Any) -> tuple[str, ...]:
    names = (value,) if isinstance(value, str) else value
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) and name for name in names):
        raise ConfigError(f"betas = {value!r}: expected a list of the provider's names of betas")
    return tuple(dict.fromkeys(names))


def _strategies(value: Any) -> tuple[str, ...]:
    names = (value,) if isinstance(value, str) else value
    if not isinstance(names, (list, tuple)) or not names or not all(isinstance(name, str) and name for name in names):
        raise ConfigError(f"strategy = {value!r}: expected a strategy's name or a list of names")
    return tuple(names)


def _share(instance: object, attribute: attrs.Attribute[Any], value: Any) -> None:  # noqa: ARG001 - attrs' signature
    if not is_number(value) or not 0 <= value <= 1:
        raise ConfigError(f"{attribute.name} = {value!r}: expected a share from 0 to 1")


def _turns(value: Any) -> tuple[int, ...]:
    if not isinstance(value, (list, tuple)) or not all(type(turn) is int and turn >= 0 for turn in value):
        raise ConfigError(f"pinned_turn_indices = {value!r}: expected turn numbers, counted from 0")
    return tuple(value)


def _tools(value: Any) -> Mapping[str, str]:
    allowed = [policy.value for policy in GCPolicy] + [EXCLUDE]
    if not isinstance(value, Mapping):
        raise ConfigError(f"tools = {value!r}: expected a table of tool name = policy")
    for name, policy in value.items():
        if policy not in allowed or not isinstance(name, str):
            raise ConfigError(f"tools.{name} = {policy!r}: expected one of {allowed}")
    return dict(value)


def _options(value: Any, key: str = "strategies") -> Mapping[str, Mapping[str, Any]]:
    if not isinstance(value, Mapping) or not all(map(_is_table, value.items())):
        raise ConfigError(f"{key} = {value!r}: expected a table of options for each name")
    return {name: dict(options) for name, options in value.items()}


def _is_table(entry: tuple[object, object]) -> bool:
    return isinstance(entry[0], str) and isinstance(entry[1], Mapping)


def _summarizers(value: Any) -> Mapping[str, Mapping[str, Any]]:
    return _options(value, "summarizers")


def _shown(options: Mapping[str, Mapping[str, Any]]) -> str:
    return repr(without_option_secrets(options))


def _named(instance: object, attribute: attrs.Attribute[Any], value: Any) -> None:  # noqa: ARG001 - attrs' signature
    if not isinstance(value, str) or not value:
        raise ConfigError(f"{attribute.name} = {value!r}: expected a name")


def _seconds(instance: object, attribute: attrs.Attribute[Any], value: Any) -> None:  # noqa: ARG001 - attrs' signature
    if not is_number(value) or value <= 0:
        raise ConfigError(f"{attribute.name} = {value!r}: expected a number of seconds above 0")


def _edits(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ConfigError(f"provider_edits = {value!r}: expected a table of what the provider does, and when")
    ProviderEdits.of(value)
    return dict(value)


@attrs.frozen(kw_only=True)
class GCConfig:
    """
    How a session collects. Percentages are of ``context_limit - output_reservation``.

    Raises ConfigError, naming key, value and what is allowed, for a bad value. For keys that nobody has checked, such
    as those of a dict, use ``load_config(**values)``, which names the nearest key; here an unknown one is a TypeError.

    Attributes:
        strategy: Name of the strategy, or several names in the order in which they are asked; "none" collects nothing.
        context_limit: Tokens of the model's window.
        output_reservation: Tokens reserved for the reply.
        threshold_percent: Usage at which a collection begins at the latest; the scheduler begins earlier if that is
            cheaper (``gc_core.collector.scheduler.cheapest_distance``).
        target_percent: Usage down to which a collection goes; a strategy may declare less.
        pressure_percent: Usage at which PRESERVABLE content may be removed; 0 or None means continuous mode, in which
            each call collects down to the target, and PRESERVABLE content is removed last.
        preserve_recent_turns: Newest turns that are never dropped or summarised.
        preserve_recent_steps: Newest steps (model calls) that no action changes.
        pinned_turn_indices: Turns, counted from 0, that no action changes.
        max_turns: The most turns in a request, besides LOCKED content and pins; None: no limit.
        token_budget: Tokens of a request, as the provider counts them, at which a collection begins, instead of
            ``threshold_percent``; the target moves with it. At most what a request may have. None: use the percentage.
        max_total_tokens: Input and output tokens that the session may spend in all its calls, or None. Input read from
            the provider's cache counts. Collections go deeper as spending runs ahead; see ``SpendLimitError``.
        auto_trigger: Collect automatically; if false, only ``collect_now`` collects.
        auto_expand: Before each request bring back what the newest step or the user names, or a user's question
            clearly means, and the window no longer contains, in at most 2,000 tokens and a quarter of the window.
        check_before_send: Check the threshold before each model call too, not only after it.
        checkpoint_every_n_steps: Model calls between two checkpoints in the session's directory; 0: only on request.
        memory_backend: Where checkpoints are kept: "files", "sqlite" (one file), "memory" (as long as the process
            lives), or the name of a plugin's backend.
        recovery_strategy: What happens when a plugin finds a reply inconsistent: "rollback_to_checkpoint", "undo_last"
            (the last collection) or "raise".
        check_replies: Find replies inconsistent that name an item, a file or a value which the log contradicts
            (``gc_core.plugins.contradictions``); ``recovery_strategy`` decides what follows.
        summarizer: What writes summaries: "extractive" (gc-core's own, offline), "llm" or "llm_async" (extra ``llm``),
            the name of a plugin's summarizer, or "none".
        summarizer_timeout: Seconds that a collection waits for one of its answers.
        summarization_model: The model that ``llm`` and ``llm_async`` ask, unless their own option names one: litellm's
            name, "auto" for the provider's cheapest model whose window fits a request, or None for the session's own
            model.
        summarization_prompt: What that model is asked to write, instead of gc-core's own prompt; the statement that the
            transcript is data stays. None: gc-core's own.
        background_percent: Usage at which the summaries of the next collection are requested in the background, or
            None. Only useful for a slow summarizer.
        summarizers: Options by summarizer name. Keys (``api_key``) are not stored in files.
        cache_marks: Set cache breakpoints in requests, if the provider has them.
        cache_ttl: How long the conversation should stay in the provider's cache after its last use: "5m" or "1h".
        stable_cache_ttl: The same for everything before the conversation; not shorter than ``cache_ttl``.
        prompt_cache_key: Sent if the provider has such a key; by default one of the session's own.
        betas: The provider's betas that requests enable, by name.
        provider_edits: What the provider does to the window by itself: ``compact_percent`` and ``clear_percent``, the
            usage at which it compacts and at which it clears tool results, and ``thinking_turns``, the newest replies
            whose thinking it keeps. gc-core then waits for the provider: only the threshold and ``max_turns`` begin a
            collection, and the threshold must be higher.
        keep_thinking_turns: Newest turns whose thinking stays in a collection; None keeps all of it.
        defer: In continuous mode, postpone collections that are not worth a break of the prompt cache while usage is
            below the threshold.
        tpm_budget: Tokens per minute that the provider allows, or None; usage above it is reported, and no call is
            refused.
        reread_guard: Notice when the agent keeps asking for what was collected, and warn it ("warn"); end the loop if
            that does not help ("raise"); or do nothing ("off").
        importance_scorer: What scores an item's importance: "composite", or the name of a plugin's scorer.
        promote_threshold: Relevance, from 0 to 1, above which a collection by a promoting strategy brings a collected
            item back.
        compression_profile: What is important to the agent's work when texts are shortened: "general", "coding",
            "research", "operations", the name of a plugin's profile, or "auto" to choose by the session's first steps.
        state_extractor: What extracts the task state: "deterministic", or the name of a plugin's extractor.
        task_state_percent: Percent of the usable window for the text of the task state, LOCKED, renewed with every
            collection that drops or summarises; 0 for none, None for what the strategies ask for.
        tools: Policy by tool name for the results of that tool, or "exclude".
        strategies: Options by strategy name.

    """

    strategy: tuple[str, ...] = attrs.field(default=("gc_truncate",), converter=_strategies)
    context_limit: int = attrs.field(default=128_000, validator=whole(1))
    output_reservation: int = attrs.field(default=4_096, validator=whole(0))
    threshold_percent: float = attrs.field(default=90.0, validator=percent)
    target_percent: float = attrs.field(default=60.0, validator=percent)
    pressure_percent: float | None = attrs.field(default=95.0, validator=optional(percent))
    preserve_recent_turns: int = attrs.field(default=5, validator=whole(0))
    preserve_recent_steps: int = attrs.field(default=2, validator=whole(0))
    pinned_turn_indices: tuple[int, ...] = attrs.field(default=(), converter=_turns)
    max_turns: int | None = attrs.field(default=None, validator=optional(whole(1)))
    token_budget: int | None = attrs.field(default=None, validator=optional(whole(1)))
    max_total_tokens: int | None = attrs.field(default=None, validator=optional(whole(1)))
    auto_trigger: bool = attrs.field(default=True, validator=_flag)
    auto_expand: bool = attrs.field(default=False, validator=_flag)
    check_before_send: bool = attrs.field(default=True, validator=_flag)
    checkpoint_every_n_steps: int = attrs.field(default=50, validator=whole(0))
    memory_backend: str = attrs.field(default=FILES, validator=_named)
    recovery_strategy: str = attrs.field(default=UNDO, validator=_one_of(RECOVERIES))
    check_replies: bool = attrs.field(default=False, validator=_flag)
    summarizer: str = attrs.field(default="extractive", validator=_named)
    summarizer_timeout: float = attrs.field(default=100.0, validator=_seconds)
    summarization_model: str | None = attrs.field(default=None, validator=optional(_named))
    summarization_prompt: str | None = attrs.field(default=None, validator=optional(_named), repr=False)
    background_percent: float | None = attrs.field(default=None, validator=optional(percent))
    summarizers: Mapping[str, Mapping[str, Any]] = attrs.field(factory=dict, converter=_summarizers, repr=_shown)
    cache_marks: bool = attrs.field(default=True, validator=_flag)
    cache_ttl: str = attrs.field(default=FIVE_MINUTES, validator=_one_of(CACHE_TTLS))
    stable_cache_ttl: str = attrs.field(default=FIVE_MINUTES, validator=_one_of(CACHE_TTLS))
    prompt_cache_key: str | None = attrs.field(default=None, validator=optional(_named))
    betas: tuple[str, ...] = attrs.field(default=(), converter=_betas)
    provider_edits: Mapping[str, Any] = attrs.field(factory=dict, converter=_edits)
    keep_thinking_turns: int | None = attrs.field(default=1, validator=optional(whole(0)))
    defer: bool = attrs.field(default=False, validator=_flag)
    tpm_budget: int | None = attrs.field(default=None, validator=optional(whole(1)))
    reread_guard: str = attrs.field(default=WARN, validator=_one_of(GUARDS))
    importance_scorer: str = attrs.field(default="composite", validator=_named)
    promote_threshold: float = attrs.field(default=0.6, validator=_share)
    compression_profile: str = attrs.field(default="general", validator=_named)
    state_extractor: str = attrs.field(default="deterministic", validator=_named)
    task_state_percent: float | None = attrs.field(default=None, validator=optional(percent))
    tools: Mapping[str, str] = attrs.field(factory=dict, converter=_tools)
    strategies: Mapping[str, Mapping[str, Any]] = attrs.field(factory=dict, converter=_options, repr=_shown)

    def __attrs_post_init__(self) -> None:
        """Check what depends on several values."""
        if self.output_reservation >= self.context_limit:
            raise ConfigError(
                f"context_limit = {self.context_limit}: output_reservation keeps {self.output_reservation} of these"
                f" tokens for the reply (4096 by default), so none is left for the request; set output_reservation ="
                f" {self.context_limit // 4}, for example, or a context_limit above {self.output_reservation}"
            )
        if self.token_budget is not None and self.token_budget > self.usable:
            raise ConfigError(
                f"token_budget = {self.token_budget}: expected at most {self.usable}, what a request may have "
                f"(context_limit {self.context_limit} - output_reservation {self.output_reservation})"
            )
        if self.background_percent is not None and self.background_percent > self.threshold_percent:
            raise ConfigError(
                f"background_percent = {self.background_percent}: expected at most threshold_percent "
                f"{self.threshold_percent}"
            )
        if self.stable_cache_ttl == FIVE_MINUTES and self.cache_ttl == ONE_HOUR:
            raise ConfigError('stable_cache_ttl ("5m") must not be shorter than cache_ttl ("1h")')
        order = [self.target_percent, self.threshold_percent, self.pressure_percent or 100.0]
        if order != sorted(order):
            raise ConfigError(
                f"target_percent = {self.target_percent}, threshold_percent = {self.threshold_percent}, "
                f"pressure_percent = {self.pressure_percent}: expected target <= threshold <= pressure (or pressure 0)"
            )

        for name, level in self.at_provider.percents.items():
            if self.continuous or level >= self.begins_percent:
                begins = "after each call" if self.continuous else f"at {self.begins_percent:g} %"
                raise ConfigError(
                    f"provider_edits.{name} = {level:g}: a collection begins {begins}, before the provider's;"
                    " expected less, and no continuous mode"
                )

    @property
    def at_provider(self) -> ProviderEdits:
        """The edits that the provider does by itself."""
        return ProviderEdits.of(self.provider_edits)

    @property
    def continuous(self) -> bool:
        """True if every call should end at or below the target."""
        return not self.pressure_percent

    @property
    def usable(self) -> int:
        """Tokens that a request may have."""
        return self.context_limit - self.output_reservation

    @property
    def begins_percent(self) -> float:
        """Usage at which a collection begins: ``token_budget`` in percent, otherwise ``threshold_percent``."""
        return self.threshold_percent if self.token_budget is None else 100.0 * self.token_budget / self.usable

    @property
    def ends_percent(self) -> float:
        """Usage down to which it goes: the target, or as far below ``token_budget`` as that is below the threshold."""
        if self.token_budget is None or not self.threshold_percent:
            return self.target_percent
        return min(self.target_percent, self.begins_percent * self.target_percent / self.threshold_percent)

    def resized(self, context_limit: int, output_reservation: int) -> GCConfig:
        """
        Return the configuration for another window; a larger ``token_budget`` is cut to it. Raises ConfigError for
        numbers that a configuration may not have.
        """
        check_kind("context_limit", context_limit, int, "a whole number of at least 1", error=ConfigError)
        check_kind("output_reservation", output_reservation, int, "a whole number of at least 0", error=ConfigError)
        usable = max(1, context_limit - output_reservation)
        budget = None if self.token_budget is None else min(self.token_budget, usable)
        return attrs.evolve(
            self, context_limit=context_limit, output_reservation=output_reservation, token_budget=budget
        )

    def tool_policies(self) -> Mapping[str, GCPolicy]:
        """Policies by tool name; "exclude" keeps a result until its unit leaves."""
        return {
            name: GCPolicy.PARTIAL if policy == EXCLUDE else GCPolicy(policy) for name, policy in self.tools.items()
        }


def checked_config(config: object) -> GCConfig:
    """Return the configuration that a host gave, or the defaults for None. Raises ConfigError for anything else."""
    if config is None:
        return GCConfig()
    if not isinstance(config, GCConfig):
        raise ConfigError(f"config = {config!r:.200}: expected a GCConfig; {HOW_TO_MAKE_ONE}")
    return config
