"""The systems compared, how each is started, and notes needed to read its figures."""

from __future__ import annotations

import sys
from pathlib import Path

import attrs

from gc_core.errors import ConfigError

HERE = Path(__file__).parent
ADAPTERS = HERE / "adapters"
REQUIREMENTS = HERE / "requirements"
HOME = HERE.parents[1] / ".peers"
"""Where the virtual environments are made."""

STUB = "a stub writes its summaries"


@attrs.frozen(kw_only=True)
class Peer:
    """
    A system to compare with.

    Attributes:
        name: What tables call it; ``*`` where a stub summarises in the place of a model.
        package: The package that it is, on the package index.
        venv: Its virtual environment, and its file of requirements; "" for the one that runs the benchmark.
        adapter: The script that drives it.
        arguments: Of the script.
        notes: What has to be known, a sentence each.

    """

    name: str
    package: str
    venv: str
    adapter: Path
    arguments: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def python(self, home: Path = HOME) -> Path:
        """The interpreter that runs its adapter."""
        return home / self.venv / "bin" / "python" if self.venv else Path(sys.executable)

    @property
    def version(self) -> str:
        """The pinned version of its package."""
        pins = (REQUIREMENTS / f"{self.venv}.txt").read_text(encoding="utf-8").splitlines()
        return next(pin.partition("==")[2] for pin in pins if pin.startswith(f"{self.package}=="))


PEERS: tuple[Peer, ...] = (
    Peer(
        name="langchain summarization *",
        package="langchain",
        venv="langchain",
        adapter=ADAPTERS / "langchain_summarization.py",
        notes=(
            STUB,
            "`keep` is the target minus the summary",
            "`trim_tokens_to_summarize` is off: at 4,000 a long run of tool calls leaves nothing to summarise",
        ),
    ),
    Peer(
        name="langchain clear_tool_uses",
        package="langchain",
        venv="langchain",
        adapter=ADAPTERS / "langchain_clearing.py",
        notes=("clears all results but three, so it has no target",),
    ),
    Peer(
        name="pydantic-ai-harness tiered *",
        package="pydantic-ai-harness",
        venv="pydantic-ai-harness",
        adapter=ADAPTERS / "pydantic_tiered.py",
        notes=(
            STUB,
            "`compact_now` at the trigger",
            "its summarizer reads 500 characters of each tool result",
            "does not count the framing of messages",
        ),
    ),
    Peer(
        name="strands summarizing *",
        package="strands-agents",
        venv="strands",
        adapter=ADAPTERS / "strands_agent.py",
        arguments=("summarizing",),
        notes=(STUB, "summarises three tenths of the messages at a time, so it has no target"),
    ),
    Peer(
        name="strands sliding window",
        package="strands-agents",
        venv="strands",
        adapter=ADAPTERS / "strands_agent.py",
        arguments=("sliding",),
        notes=("keeps the newest 40 messages, fewer above the trigger",),
    ),
    Peer(
        name="strands context manager *",
        package="strands-agents",
        venv="strands",
        adapter=ADAPTERS / "strands_agent.py",
        arguments=("context",),
        notes=(
            STUB,
            "experimental in its package; its preset `auto`; no target",
            "its tool that reads back removed content is not used",
        ),
    ),
    Peer(
        name="adk event compaction *",
        package="google-adk",
        venv="adk",
        adapter=ADAPTERS / "adk_compaction.py",
        notes=(
            STUB,
            "`token_threshold` is the trigger; keeps the newest 10 events, so it has no target",
            "knows a prompt's tokens from the reply before, without what came since",
        ),
    ),
    Peer(
        name="agent-framework window",
        package="agent-framework-core",
        venv="agent-framework",
        adapter=ADAPTERS / "agent_framework_window.py",
        notes=("`ContextWindowCompactionStrategy`; counts messages with their JSON",),
    ),
    Peer(
        name="llmslim engine",
        package="llmslim",
        venv="llmslim",
        adapter=ADAPTERS / "llmslim_engine.py",
        notes=(
            "its engine for Hermes Agent",
            "counts with cl100k_base and without framing, so its target is a little larger",
        ),
    ),
    Peer(
        name="llmslim processor",
        package="llmslim",
        venv="llmslim",
        adapter=ADAPTERS / "llmslim_processor.py",
        notes=(
            "its history processor for Pydantic AI; one budget, which is the trigger",
            "counts with cl100k_base and without framing",
        ),
    ),
    Peer(
        name="headroom",
        package="headroom-ai",
        venv="headroom",
        adapter=ADAPTERS / "headroom_compress.py",
        notes=(
            "has no budget: it compresses what its rules find, from the first call on",
            "rules only: the model that it downloads for plain text is not available",
        ),
    ),
)

FRAMEWORKS = ("langchain", "pydantic-ai-harness", "strands-agents", "google-adk", "agent-framework-core")
"""Packages of frameworks that compact by themselves, and have an adapter of gc-core."""


def peers_named(names: tuple[str, ...]) -> tuple[Peer, ...]:
    """
    The peers whose names or packages begin so; all of them for no names.

    Raises ConfigError for a name that begins no peer's.
    """
    unknown = [name for name in names if not any(peer.name.startswith(name) for peer in PEERS)]
    if unknown:
        raise ConfigError(f"no peer {unknown[0]!r}; there are: {', '.join(peer.name for peer in PEERS)}")
    return tuple(peer for peer in PEERS if not names or any(peer.name.startswith(name) for name in names))
