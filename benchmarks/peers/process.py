"""An adapter at work: a process in the peer's virtual environment that answers one JSON line with one."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import attrs

from benchmarks.peers.catalog import HOME, Peer
from benchmarks.peers.installing import RANKS, lay_ranks
from gc_core.errors import GCError
from gc_core.values.messages import Payload

START_SECONDS = 300.0
"""How long a peer may take to start."""

ANSWER_SECONDS = 120.0
"""How long an answer may take."""

_QUIET = {
    "ANONYMIZED_TELEMETRY": "false",
    "DO_NOT_TRACK": "1",
    "HEADROOM_BEACON": "off",
    "HEADROOM_OFFLINE": "1",
    "HEADROOM_TELEMETRY": "off",
    "HEADROOM_UPDATE_CHECK": "off",
    "HF_DATASETS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_OFFLINE": "1",
    "LANGCHAIN_TRACING_V2": "false",
    "LANGSMITH_TRACING": "false",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "OTEL_SDK_DISABLED": "true",
    "PYTHONHASHSEED": "0",
    "PYTHONUTF8": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "TRANSFORMERS_OFFLINE": "1",
    # Whatever asks for the network all the same finds nobody there.
    "HTTPS_PROXY": "http://127.0.0.1:9",
    "HTTP_PROXY": "http://127.0.0.1:9",
    "ALL_PROXY": "http://127.0.0.1:9",
}


class PeerError(GCError):
    """An adapter died, was too slow or answered what is no answer; names the peer and what was expected of it."""


class PeerCallError(PeerError):
    """The peer's own code raised in one call; the adapter goes on."""


@attrs.frozen(kw_only=True)
class Answer:
    """
    What a peer would send.

    Attributes:
        messages: Numbers of messages of the history, from 0 on, and messages that the peer wrote.
        seconds: What its own code took.

    """

    messages: tuple[int | Payload, ...]
    seconds: float


class AdapterProcess:
    """
    One peer in one session.

    Args:
        peer: Which one.
        window: Tokens of messages that fit, trigger and target likewise.
        trigger: At which to begin.
        target: To come down to.
        home: Where the peers' environments are.
        patience: Seconds that an answer may take.

    Raises:
        PeerError: It does not start.

    """

    def __init__(
        self,
        peer: Peer,
        *,
        window: int,
        trigger: int,
        target: int,
        home: Path = HOME,
        patience: float = ANSWER_SECONDS,
    ) -> None:
        self._peer = peer
        self._patience = patience
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        python = peer.python(home)
        if not python.is_file():
            raise PeerError(f"{peer.name}: no {python}, expected its environment: make bench-peers installs it")
        self._said = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115 - lives as we do
        self._process = self._started(python, home)
        threading.Thread(target=self._listen, daemon=True).start()
        try:
            self._ask({"window": window, "trigger": trigger, "target": target}, "its start", START_SECONDS)
        except PeerError:
            self._end()
            raise

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the process."""
        self._end()

    def call(self, number: int, new: Sequence[Payload]) -> Answer:
        """
        What would be sent in a model call.

        Args:
            number: Of the call, for errors.
            new: The messages since the last call.

        Raises:
            PeerCallError: The peer raised; the next call may be asked for.
            PeerError: The adapter is of no more use.

        """
        answer = self._ask({"new": list(new)}, f"call {number}", self._patience)
        if isinstance(answer.get("error"), str):
            raise PeerCallError(f"{self._peer.name}: call {number}: {answer['error']}")
        return self._checked(answer, number)

    # -- inside --------------------------------------------------------------------------------------------------

    def _end(self) -> None:
        self._process.kill()
        self._process.communicate()
        self._said.close()

    def _started(self, python: Path, home: Path) -> subprocess.Popen[str]:
        path = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        return subprocess.Popen(  # noqa: S603 - a script of this package
            [python, self._peer.adapter, *self._peer.arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            encoding="utf-8",
            env={**path, **_QUIET, "HOME": tempfile.gettempdir(), "TIKTOKEN_CACHE_DIR": str(lay_ranks(home / RANKS))},
        )

    def _listen(self) -> None:
        assert self._process.stdout is not None  # noqa: S101 - for the type checker: it is a pipe
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put("")

    def _ask(self, request: Mapping[str, Any], when: str, patience: float) -> Mapping[str, Any]:
        assert self._process.stdin is not None  # noqa: S101 - for the type checker: it is a pipe
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            line = self._lines.get(timeout=patience)
        except BrokenPipeError:
            line = ""
        except queue.Empty:
            self._process.kill()
            raise PeerError(f"{self._peer.name}: {when}: no answer in {patience:g} seconds") from None
        if not line:
            raise PeerError(f"{self._peer.name}: {when}: its process ended: {self._last_words()}")
        return self._read(line, when)

    def _read(self, line: str, when: str) -> Mapping[str, Any]:
        try:
            answer = json.loads(line)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise PeerError(f"{self._peer.name}: {when}: answered {line[:80]!r}, expected a JSON object")
        return answer

    def _checked(self, answer: Mapping[str, Any], number: int) -> Answer:
        messages, seconds = answer.get("messages"), answer.get("seconds")
        known = isinstance(messages, list) and all(isinstance(message, int | dict) for message in messages)
        if not known or not isinstance(seconds, float):
            text = f"answered {str(answer)[:80]}, expected messages (numbers or objects) and seconds"
            raise PeerError(f"{self._peer.name}: call {number}: {text}")
        return Answer(messages=tuple(messages or ()), seconds=seconds)

    def _last_words(self) -> str:
        code = self._process.wait()
        self._said.seek(0)
        lines = [line.strip() for line in self._said if line.strip()]
        return lines[-1][:300] if lines else f"exit code {code}"
