"""A function for plain lists, in the place of ``trim_messages``."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable

import attrs
from langchain_core.messages import BaseMessage, SystemMessage

from gc_core import GCConfig
from gc_core.integrations.lanes import Lanes, ModelCall
from gc_core.values.config import checked_config
from gc_langchain.messages import LangChainMessages


def collect_messages(
    messages: Iterable[BaseMessage], *, max_tokens: int, model: str = "", config: GCConfig | None = None
) -> list[BaseMessage]:
    """
    Return the messages in at most ``max_tokens``: the same objects where nothing was changed, copies where a text was
    shortened, and notices where something left.

    Nothing can be recalled afterwards, and every call decides anew: for an agent take ``GCMiddleware``. A leading
    system message stays as it is, and counts.

    Raises ContextOverflowError when what may not be removed is larger than ``max_tokens``, and ConfigError for anything
    but a GCConfig.
    """
    given = list(messages)
    leading = given[:1] if given and isinstance(given[0], SystemMessage) else []
    settled = attrs.evolve(
        GCConfig(strategy="gc_budget") if config is None else checked_config(config),
        context_limit=max_tokens,
        output_reservation=0,
        threshold_percent=100.0,
        pressure_percent=100.0,
    )
    lanes = Lanes(LangChainMessages(), format="openai", config=settled)
    call = ModelCall(messages=given[len(leading) :], system=leading[0].text if leading else None, model=model)
    with contextlib.closing(lanes), lanes.lane("list", model) as lane:
        return [*leading, *lane.fitted(call)]
