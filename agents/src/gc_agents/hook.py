"""
``gc-hook``: what the hooks of Claude Code start, and as ``gc-hook codex`` those of Codex. It has to answer in 150 ms
and may not break the agent.

So it imports little, and only where it is needed. Whatever goes wrong, nothing is printed and the exit status is 0: the
agent goes on as if gc-core were not there. What happened stands in ``failures.log``, which ``ctxgc doctor`` reads.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from typing import Any, Final

from gc_agents.agent_folder import INDEX, AgentFolder
from gc_agents.failure_log import note
from gc_agents.places import CLAUDE_CODE, CODEX, LONGEST, followed_of, lanes_of
from gc_core.isolation import isolated

MOST_INPUT_BYTES: Final = 1_000_000
"""A longer input is left as it is: a hook has no time for it."""

_MOST_CARRIED: Final = 20_000


def main() -> int:
    """Answer one hook: its input is JSON on standard input, its answer what the agent expects. Returns 0."""
    environ, agent = os.environ, sys.argv[1] if len(sys.argv) > 1 else CLAUDE_CODE
    with isolated() as attempt:
        given = sys.stdin.buffer.read(MOST_INPUT_BYTES + 1)
        answer = answer_to(given, environ, agent)
        if answer:
            sys.stdout.buffer.write(answer.encode())  # UTF-8, whatever the system's own encoding is
            sys.stdout.buffer.flush()
    if attempt.error is not None:
        with isolated():  # a full disk: nobody is told then
            note(followed_of(environ), f"{type(attempt.error).__name__}: {attempt.error}")
    return 0


def answer_to(given: bytes, environ: Mapping[str, str], agent: str = CLAUDE_CODE) -> str:
    """Return what a hook of an agent prints for its input; "" for nothing. Raises whatever goes wrong."""
    if len(given) > MOST_INPUT_BYTES:
        raise ValueError(f"an input of more than {MOST_INPUT_BYTES:,} bytes was left as it is")
    told = json.loads(given)
    if agent not in {CLAUDE_CODE, CODEX}:
        raise ValueError(f"gc-hook {agent!r:.100}: expected nothing, or {CODEX}")
    folder = AgentFolder.of(followed_of(environ), agent, told["session_id"])
    match told["hook_event_name"]:
        case "PostToolUse":
            return _after_tool(told, folder) if len(given) > LONGEST else ""
        case "PreCompact":
            return _before_compaction(told, folder, environ)
        case "SessionStart" if agent == CODEX:
            return _at_start_of_codex(told, folder, environ)
        case "SessionStart":
            return _at_start(told, folder, environ)
    return ""


# -- the events --------------------------------------------------------------------------------------------------------


def _after_tool(told: Mapping[str, Any], folder: AgentFolder) -> str:
    """Shorten a long result, once its original is kept."""
    from gc_agents.long_results import original_of, shortened_response

    response, call = told.get("tool_response"), told["tool_use_id"]
    shortened = shortened_response(told["tool_name"], response, call)
    if shortened is None:
        return ""
    folder.keep(call, original_of(told["tool_name"], response))
    return _specific("PostToolUse", updatedToolOutput=shortened)


def _before_compaction(told: Mapping[str, Any], folder: AgentFolder, environ: Mapping[str, str]) -> str:
    """Stop an automatic compaction while a gateway keeps the window; else name what the summary has to keep."""
    if told.get("trigger") == "auto" and _is_behind_gateway(environ):
        return json.dumps({"decision": "block", "reason": "the gateway keeps this window within its limit"})
    carried = _carried(folder, environ)
    return (
        f"Keep these rules and facts in the summary, word for word where they are rules:\n\n{carried}"
        if carried
        else ""
    )


def _at_start(told: Mapping[str, Any], folder: AgentFolder, environ: Mapping[str, str]) -> str:
    """Note where the transcript is; after a compaction, put back what has to stay."""
    folder.note_transcript(told["transcript_path"])
    carried = _carried(folder, environ) if told.get("source") == "compact" else ""
    return _specific("SessionStart", additionalContext=carried) if carried else ""


def _at_start_of_codex(told: Mapping[str, Any], folder: AgentFolder, environ: Mapping[str, str]) -> str:
    """
    Do the same for Codex. Its log is followed here, which takes longer: the server does not know the session before the
    first call. A session that has a lane of a gateway is left to the gateway.
    """
    if told.get("source") == "compact":
        from gc_agents.lane_folders import LaneFolders
        from gc_agents.live_log import LiveLog

        if LaneFolders(lanes_of(environ)).family(f"{CODEX}:{told['session_id']}"):
            return ""
        folder.note_transcript(told["transcript_path"])
        live = LiveLog(folder)
        live.look()
        live.close()
    return _at_start(told, folder, environ)


def _specific(event: str, **more: object) -> str:
    return json.dumps({"hookSpecificOutput": {"hookEventName": event, **more}})


# -- inside ------------------------------------------------------------------------------------------------------------


def _carried(folder: AgentFolder, environ: Mapping[str, str]) -> str:
    """Return what a compaction may not lose; without the index where a gateway has the session under other ids."""
    text = folder.carried(_MOST_CARRIED)
    return text.partition(INDEX)[0].strip() if _is_behind_gateway(environ) else text


def _is_behind_gateway(environ: Mapping[str, str]) -> bool:
    """True if the agent's base URL is that of a gateway which runs."""
    url = environ.get("ANTHROPIC_BASE_URL", "").rstrip("/")
    if not url:
        return False
    from gc_agents.announcements import running

    return any(gateway.url.rstrip("/") == url for gateway in running(lanes_of(environ)))


if __name__ == "__main__":
    sys.exit(main())
