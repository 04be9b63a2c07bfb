"""
An agent's loop with the official ``openai`` client, kept inside its window.

With a key in ``OPENAI_API_KEY`` (the client reads ``OPENAI_BASE_URL`` too, so any server that speaks Chat Completions
will do)::

    python examples/openai_loop.py "What does this project do?" .
"""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import openai
from openai.types.chat import ChatCompletion, ChatCompletionMessageFunctionToolCall

import gc_core as gc
from gc_core.events import CollectionFinished
from gc_core.integrations.agent_tools import AgentTools

MODEL = os.environ.get("MODEL", "gpt-5")
SYSTEM = "You answer questions about the files of a directory. Read before you answer; name the files."


def schema(name: str, description: str, **properties: object) -> dict[str, object]:
    """A tool, as Chat Completions wants it."""
    parameters = {"type": "object", "properties": properties, "required": list(properties)}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


TOOLS = [
    schema("list_files", "The names of all files of the directory."),
    schema("read_file", "The text of a file, by the name that list_files tells.", path={"type": "string"}),
]


def answered(
    client: openai.OpenAI,
    question: str,
    root: Path,
    *,
    config: gc.GCConfig | None = None,
    directory: Path | None = None,
    on_event: Callable[[object], None] | None = None,
) -> str:
    """What the agent says in the end; with a ``directory`` the session can be looked at, and gone on with."""
    config = config or gc.GCConfig(strategy="gc_budget", context_limit=128_000)
    with gc.GCSession(config, model=MODEL, directory=directory, on_event=on_event) as session:
        memory = AgentTools(session, names=("recall", "search_history"))
        session.system(base=SYSTEM)
        session.tools([*TOOLS, *memory.schemas()])
        session.append({"role": "user", "content": question})
        while True:
            reply = asked(client, session)
            session.post_turn(reply, usage=reply.usage)
            said = reply.choices[0].message
            if not said.tool_calls:
                return said.content or ""
            for message in memory.answer(reply):  # what the agent wants back from its own past
                session.append(message)
            for call in said.tool_calls:
                if call.type == "function" and not memory.handles(call.function.name):
                    session.append({"role": "tool", "tool_call_id": call.id, "content": result(call, root)})


def asked(client: openai.OpenAI, session: gc.GCSession) -> ChatCompletion:
    """One model call; where the provider finds it too long, a smaller one."""
    request = session.pre_send()
    while True:
        try:
            reply: ChatCompletion = client.chat.completions.create(model=MODEL, **request.kwargs())
        except openai.BadRequestError as error:
            request = session.recover(error)  # raises it again where it is not about length
        else:
            return reply


def result(call: ChatCompletionMessageFunctionToolCall, root: Path) -> str:
    """A tool's result; an error is reported to the model, which can correct it."""
    try:
        return used(call.function.name, json.loads(call.function.arguments), root)
    except (OSError, KeyError, ValueError) as error:
        return f"{type(error).__name__}: {error}"


def used(tool: str, arguments: dict[str, object], root: Path) -> str:
    """Run one tool; nothing outside of ``root`` can be read."""
    files = {str(path.relative_to(root)): path for path in sorted(root.rglob("*")) if path.is_file()}
    if tool == "list_files":
        return "\n".join(files) or "no files"
    return files[str(arguments["path"])].read_text(encoding="utf-8", errors="replace")


def print_event(event: object) -> None:
    """Say when something was collected."""
    if isinstance(event, CollectionFinished):
        print(f"[{event.result.tokens_freed:,} tokens collected]", file=sys.stderr)


if __name__ == "__main__":
    print(answered(openai.OpenAI(), sys.argv[1], Path(sys.argv[2]), on_event=print_event))
