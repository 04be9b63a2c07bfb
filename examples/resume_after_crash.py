"""
A long session that may be killed at any moment, and goes on where it was.

Start it, kill it (``kill -9``), start it again with the same directory, as often as you like::

    python examples/resume_after_crash.py sessions/long

It says a line when a step is done. The model is made up, so that it runs as it is: like a real one it sees nothing but
the request, and decides from that alone what comes next. Put your client in the place of ``answered``.
"""

import sys
from pathlib import Path
from typing import Any

import gc_core as gc

FILES = 400
TASK = f"Read all {FILES} files in their order, and say what their secrets add up to."
WINDOW = 8_000


def session_in(directory: Path) -> gc.GCSession:
    """The session of a directory: begun, or opened as it was when its process ended."""
    if (directory / "master.jsonl").exists():
        return gc.GCSession.open(directory)  # window, budget, pins and all; no plugin is asked for it
    session = gc.GCSession(
        gc.GCConfig(strategy="gc_budget", context_limit=WINDOW, output_reservation=500), directory=directory
    )
    session.system(base="You read files.")
    session.append({"role": "user", "content": TASK})
    return session


def work(directory: Path) -> str:
    """Go on until the task is done; what the agent says in the end."""
    with session_in(directory) as session:
        while True:
            # Calls that a dead process left without results are closed here, with a note that no answer came.
            request = session.pre_send()
            reply = answered(request)
            session.post_turn(reply)
            if "tool_calls" not in reply:
                return str(reply["content"])
            for call in reply["tool_calls"]:
                (item,) = session.append({"role": "tool", "tool_call_id": call["id"], "content": read(call["id"])})
                print(call["id"], item, flush=True)  # from here on it survives any kill


def answered(request: gc.Request) -> dict[str, Any]:
    """What a model would say: it reads on behind the newest file that it sees, and ends behind the last one."""
    seen = [message["content"] for message in request.messages if message["role"] == "tool"]
    numbers = [int(text.split()[1].rstrip(":")) for text in seen if text.startswith("file ")]
    following = max(numbers, default=0) + 1
    if following > FILES:
        return {"role": "assistant", "content": f"Done: I have read {FILES} files."}
    function = {"name": "read", "arguments": f'{{"path": "file{following}"}}'}
    call = {"id": f"call_{following}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def read(call: str) -> str:
    """What a tool answers: some text, with something in it that has to be found again."""
    number = int(call.removeprefix("call_"))
    return f"file {number}: secret_{number * 7919}\n" + "and some more of no interest\n" * 40


if __name__ == "__main__":
    if len(sys.argv) == 1:
        sys.exit("usage: python examples/resume_after_crash.py DIRECTORY")
    print(work(Path(sys.argv[1])))
