"""The contract of adapters: a real agent of a framework, against a provider on loopback."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, ClassVar

import attrs

from gc_core.isolation import isolated
from gc_core.testing.contract import Contract, rule
from gc_core.testing.loopback import LoopbackProvider, Seen
from gc_core.testing.loopback_replies import DONE
from gc_core.values.config import GCConfig
from gc_core.values.messages import without_marks

CALL, STREAM, ASYNC, ASYNC_STREAM = MODES = ("call", "stream", "async", "async stream")
"""The ways in which a framework may run an agent."""

_LINES = 120
_CALLS_A_BREAK = 5
"""A run may break the prefix once in this many calls, at most."""


def file_of(command: str) -> str:
    """Return what the agent's tool answers: about 1,100 tokens."""
    return "\n".join(f"{command} line {number}: value {number * number}" for number in range(_LINES))


@attrs.frozen(kw_only=True)
class Scene:
    """
    A run of an agent.

    Attributes:
        url: The provider's base URL, without a path.
        key: The credential that it wants.
        config: The adapter's configuration; None: run the agent without the adapter.
        directory: The adapter's directory.
        thread: The conversation. It goes on where the last run of the same thread and object of the contract ended.
        prompt: The user's message.
        system: The system text.
        about: The description of the agent's only tool, ``bash``, with one argument, ``command``.
        stream: Stream the replies, where the framework asks for that.
        read: Answers a call of the tool.

    """

    url: str
    key: str
    config: GCConfig | None = None
    directory: Path | None = None
    thread: str = "main"
    prompt: str = "Read all files, one after another."
    system: str = "You read files."
    about: str = "Run a command."
    stream: bool = False
    read: Callable[[str], str] = file_of


@attrs.frozen
class Played:
    """
    What came of a run.

    Attributes:
        text: The text of the last reply.
        results: The tool results in the framework's own history after the run, in order.

    """

    text: str
    results: Sequence[str]


class AdapterContract(Contract):
    """
    The rules for adapters. Subclass it as ``class TestMine(AdapterContract)``, and write ``play``, ``play_async`` or
    both: they make an agent of the framework, with a new adapter in it, let it run, close the adapter, and keep the
    framework's own history of the thread for the next run.

    Attributes:
        package: The adapter's module.
        framework: The framework's module.
        modes: How the framework can run an agent.
        strategy: The strategy to collect with.
        calls: Tool calls of the long run.
        limit: The provider's window in the long run, in tokens.

    """

    package: ClassVar[str] = ""
    framework: ClassVar[str] = ""
    modes: ClassVar[tuple[str, ...]] = MODES
    strategy: ClassVar[str] = "gc_budget"
    calls: ClassVar[int] = 60
    limit: ClassVar[int] = 30_000

    def play(self, scene: Scene) -> Played:
        """Run an agent to its end. Raises what the framework raises."""
        return asyncio.run(self.play_async(scene))

    async def play_async(self, scene: Scene) -> Played:
        """Do the same in an event loop."""
        raise NotImplementedError(f"{type(self).__name__} has no play_async; write it, or leave it out of `modes`")

    # -- the long run --------------------------------------------------------------------------------------------------

    @rule
    def test_is_needed(self) -> None:
        """Without the adapter the run ends in a refusal, or another request is refused: its history is too long."""
        with self._provider(calls=self.calls, limit=self.limit) as provider, isolated():
            self.play(Scene(url=provider.url, key=provider.key))
        assert provider.refusals, "the run fits without the adapter: nothing is shown; does it compact by itself?"

    @rule
    def test_the_request_fits(self) -> None:
        """With it the run ends, and every request is valid and fits."""
        provider, played = self._long_run()
        assert not provider.refusals, f"refused: {_refused(provider)}"
        assert played.text == DONE, f"the run ended with {played.text!r:.200}"
        assert len(provider.generations) == self.calls + 1

    @rule
    def test_the_frameworks_history_stays_whole(self) -> None:
        """After the run the framework's own history has every result as it came."""
        _, played = self._long_run()
        expected = [file_of(f"cat big_{number}.txt") for number in range(1, self.calls + 1)]
        assert list(played.results) == expected, f"{len(played.results)} results, not {self.calls} whole ones"

    @rule
    def test_requests_stand_still_between_collections(self) -> None:
        """A request begins with the one before it, except after a collection, and few calls need one."""
        provider, _ = self._long_run()
        breaks = _breaks(provider.generations)
        most = self.calls // _CALLS_A_BREAK
        assert 0 < breaks <= most, f"{breaks} of {self.calls} requests change what was sent; at most {most} may"

    # -- what else counts ----------------------------------------------------------------------------------------------

    @rule
    def test_system_text_and_tools_count(self) -> None:
        """A long system text and a long description of a tool take their room: the request fits with them."""
        text = " ".join(f"Rule {number} is kept." for number in range(500))
        with self._provider() as provider:
            self._played(provider, system=text, about=text)
        assert not provider.refusals, f"refused: {_refused(provider)}"

    @rule
    def test_usage_calibrates(self) -> None:
        """A provider that counts more than gc-core is believed from its first report on: no request is too long."""
        with self._provider(letters_per_token=1.6, limit=18_000) as provider:
            assert self._played(provider).text == DONE
        assert not provider.refusals, f"refused: {_refused(provider)}"

    # -- refusals ------------------------------------------------------------------------------------------------------

    @rule
    def test_a_refusal_for_length_is_answered_by_a_collection(self) -> None:
        """Where the window is smaller than configured, the first refusal tells, and the run goes on."""
        with self._provider() as provider:
            assert self._played(provider, config=self._config(4 * provider.limit)).text == DONE
        assert 0 < len(provider.refusals) <= 2, f"refused: {_refused(provider)}"  # noqa: PLR2004 - one more is as bad luck

    @rule
    def test_a_second_refusal_is_the_frameworks(self) -> None:
        """What no collection can mend reaches the caller, after two requests."""
        with self._provider(limit=10) as provider, isolated() as attempt:
            self._played(provider, config=self._config(8_000))
        assert attempt.error is not None, "the run ended as if nothing was wrong"
        assert len(provider.generations) <= 2, f"{len(provider.generations)} requests"  # noqa: PLR2004 - the retry

    @rule
    def test_other_errors_are_the_frameworks(self) -> None:
        """An error that is no refusal for length reaches the caller as it is, and the conversation goes on after it."""
        with self._provider(calls=3) as provider:
            provider.failures = [403]
            with isolated() as attempt:
                self._played(provider)
            assert attempt.error is not None, "the run ended as if nothing was wrong"
            assert len(provider.generations) == 1, "it was sent again"
            assert self._played(provider).text == DONE

    # -- runs beside and after each other ------------------------------------------------------------------------------

    @rule
    def test_all_modes_send_the_same(self) -> None:
        """Called, awaited and streamed, a run sends the same messages."""
        sent = {mode: self._sent_in(mode) for mode in self.modes}
        first = sent[self.modes[0]]
        differing = [mode for mode, messages in sent.items() if messages != first]
        assert not differing, f"{differing} send other messages than {self.modes[0]!r}"

    @rule
    def test_runs_beside_each_other_do_not_meet(self) -> None:
        """Two threads at once have sessions of their own."""
        words = ("alpha", "omega")
        with self._provider(calls=12) as provider, ThreadPoolExecutor(2) as pool:
            runs = [pool.submit(self._played, provider, thread=word, prompt=f"Read all of {word}.") for word in words]
            assert [run.result().text for run in runs] == [DONE, DONE]
        for seen in provider.generations:
            found = [word for word in words if word in seen.raw.decode()]
            assert len(found) == 1, f"a request has the prompts of {found}"
        assert not provider.refusals, f"refused: {_refused(provider)}"

    @rule
    def test_a_cancelled_run_goes_on(self) -> None:
        """A run that is cancelled while the model answers leaves a session that the next run can use."""
        if ASYNC not in self.modes:
            return
        with self._provider() as provider:
            asyncio.run(self._cancelled(provider))
            provider.pause = 0.0
            assert self._played(provider, ASYNC, prompt="Go on.").text == DONE
        assert not provider.refusals, f"refused: {_refused(provider)}"

    @rule
    def test_another_process_goes_on_as_it_was_sent(self) -> None:
        """With a directory, a new adapter sends what the old one sent, and what is new behind it."""
        with self._provider() as provider, tempfile.TemporaryDirectory() as directory:
            self._played(provider, directory=Path(directory))
            last, count = provider.generations[-1], len(provider.generations)
            provider.calls += 2
            self._played(provider, directory=Path(directory), prompt="Read two more.")
            first = provider.generations[count]
        assert _starts_with(first, last), "the first request of the second run differs from the last of the first"

    # -- the import ----------------------------------------------------------------------------------------------------

    @rule
    def test_a_missing_framework_is_named(self) -> None:
        """Without the framework the import fails with what to install."""
        code = f"import sys; sys.modules[{self.framework!r}] = None; import {self.package}"
        ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)  # noqa: S603 - ours
        assert "ImportError" in ended.stderr, f"it ends with {ended.stderr[-300:]!r}"
        assert re.search(r"pip install \S", ended.stderr), f"no word of what to install: {ended.stderr[-300:]!r}"

    # -- inside --------------------------------------------------------------------------------------------------------

    def _long_run(self) -> tuple[LoopbackProvider, Played]:
        """The run of the first rules, made once."""
        kind = type(self)
        if kind not in _LONG_RUNS:
            with self._provider(calls=self.calls, limit=self.limit) as provider:
                _LONG_RUNS[kind] = (provider, self._played(provider, self.modes[0], thread="long"))
        return _LONG_RUNS[kind]

    def _provider(self, *, calls: int = 16, limit: int = 8_000, letters_per_token: float = 4.0) -> LoopbackProvider:
        return LoopbackProvider(calls=calls, limit=limit, letters_per_token=letters_per_token)

    def _config(self, limit: int) -> GCConfig:
        return GCConfig(strategy=self.strategy, context_limit=limit, output_reservation=limit // 20)

    def _played(self, provider: LoopbackProvider, mode: str = "", **changes: Any) -> Played:
        mode = mode or self.modes[0]
        scene = self._scene(provider, mode, **changes)
        return asyncio.run(self.play_async(scene)) if mode in {ASYNC, ASYNC_STREAM} else self.play(scene)

    def _scene(self, provider: LoopbackProvider, mode: str, **changes: Any) -> Scene:
        config = changes.pop("config", None) or self._config(provider.limit)
        streams = mode in {STREAM, ASYNC_STREAM}
        return Scene(url=provider.url, key=provider.key, config=config, stream=streams, **changes)

    def _sent_in(self, mode: str) -> list[list[Any]]:
        with self._provider(calls=12) as provider:
            self._played(provider, mode, thread=mode)
        return [_plain(seen) for seen in provider.generations]

    async def _cancelled(self, provider: LoopbackProvider) -> None:
        """Cancel a run while the provider takes its time over the 11th request."""
        task = asyncio.create_task(self.play_async(self._scene(provider, ASYNC)))
        while len(provider.generations) < 11 and not task.done():  # noqa: ASYNC110, PLR2004 - of another thread
            await asyncio.sleep(0.005)
        provider.pause = 0.2
        await asyncio.sleep(0.1)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


_LONG_RUNS: dict[type[AdapterContract], tuple[LoopbackProvider, Played]] = {}


def _plain(seen: Seen) -> list[Any]:
    return [without_marks(message) for message in seen.messages]


def _starts_with(later: Seen, earlier: Seen) -> bool:
    before = _plain(earlier)
    return _plain(later)[: len(before)] == before


def _breaks(requests: Sequence[Seen]) -> int:
    return sum(not _starts_with(later, earlier) for earlier, later in itertools.pairwise(requests))


def _refused(provider: LoopbackProvider) -> list[str]:
    return [f"{seen.tokens} tokens of {provider.limit}: {provider.fault_in(seen)}" for seen in provider.refusals]
