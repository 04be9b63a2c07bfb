"""Which systems are compared, how each is started, and what has to be known to read its figures."""

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

STUB = "needs a model: summaries by a stub that copies lines with file names, 2,000 tokens at most"


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
            "1.5.0 could not be installed on 2026-11-22: its langchain-core wants a certifi that the index had not",
            "`keep` is the target less the summary",
            "`trim_tokens_to_summarize` is off: at its 4,000 a long run of tool calls leaves nothing to summarise",
            "counts with ours",
        ),
    ),
    Peer(
        name="langchain clear_tool_uses",
        package="langchain",
        venv="langchain",
        adapter=ADAPTERS / "langchain_clearing.py",
        notes=(
            "defaults but for the trigger: all results but three are cleared, so it has no target",
            "counts with ours",
        ),
    ),
    Peer(
        name="pydantic-ai-harness tiered *",
        package="pydantic-ai-harness",
        venv="pydantic-ai-harness",
        adapter=ADAPTERS / "pydantic_tiered.py",
        notes=(
            STUB,
            "run by `compact_now` at the trigger; inside an agent's run one number is both trigger and target",
            "its summarizer sees 500 characters of each tool result, its default",
            "counts texts with ours, without the framing of messages",
        ),
    ),
    Peer(
        name="strands summarizing *",
        package="strands-agents",
        venv="strands",
        adapter=ADAPTERS / "strands_agent.py",
        arguments=("summarizing",),
        notes=(STUB, "no target: three tenths of the messages are summarised at a time", "counts with ours"),
    ),
    Peer(
        name="strands sliding window",
        package="strands-agents",
        venv="strands",
        adapter=ADAPTERS / "strands_agent.py",
        arguments=("sliding",),
        notes=(
            "no target and no budget: it keeps the newest 40 messages, fewer above the trigger",
            "counts with ours",
        ),
    ),
    Peer(
        name="strands context manager *",
        package="strands-agents",
        venv="strands",
        adapter=ADAPTERS / "strands_agent.py",
        arguments=("context",),
        notes=(
            STUB,
            "experimental in its package; the strategies of its preset `auto`, the summary at the trigger; no target",
            "its tool that reads back what was cut is not used: a replayed agent asks for nothing",
            "counts with ours",
        ),
    ),
    Peer(
        name="llmslim engine",
        package="llmslim",
        venv="llmslim",
        adapter=ADAPTERS / "llmslim_engine.py",
        notes=(
            "its engine for Hermes Agent, whose empty base class is stood in for",
            "counts with cl100k_base and without framing, so what it takes for the target is a little more",
        ),
    ),
    Peer(
        name="llmslim processor",
        package="llmslim",
        venv="llmslim",
        adapter=ADAPTERS / "llmslim_processor.py",
        notes=(
            "its history processor for Pydantic AI, which keeps what it answers; one budget, which is the trigger",
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
            "the model that it fetches for plain text is not there without a network: rules alone",
            "counts with o200k_base, its own",
        ),
    ),
)


def peers_named(names: tuple[str, ...]) -> tuple[Peer, ...]:
    """
    The peers whose names or packages begin so; all of them for no names.

    Raises ConfigError for a name that begins no peer's.
    """
    unknown = [name for name in names if not any(peer.name.startswith(name) for peer in PEERS)]
    if unknown:
        raise ConfigError(f"no peer {unknown[0]!r}; there are: {', '.join(peer.name for peer in PEERS)}")
    return tuple(peer for peer in PEERS if not names or any(peer.name.startswith(name) for name in names))
