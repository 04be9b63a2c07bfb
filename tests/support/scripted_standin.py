"""The stand-in provider with a script: which tools of the client's are called, MCP servers' among them."""

from __future__ import annotations

import json
import re

from tests.support.standin import EVENTS, WHOLE, Answer, StandIn, _Handler, agent_of, instance_of, schema_in

SUMMARY = "<analysis>done</analysis><summary>The files were read.</summary>"
_REFERENCE = re.compile(r"gc_recall (i\d+(?:-i\d+)?(?:@[0-9a-f]{6})?)")
_ASKS = ("Respond with TEXT ONLY", "CONTEXT CHECKPOINT COMPACTION")


class ScriptedStandIn(StandIn):
    """
    Calls the tools of ``script`` in order, each a name and its arguments, then says that it is done.

    ``namespace/name`` is a function of a namespace, as Codex has it. ``{newest}`` among the arguments stands for the
    newest id that the request's references name. A request for a summary gets one. Requests of sub-agents follow the
    script too, or ``of_agents``, each from its beginning.
    """

    def __init__(self, script, of_agents=(), **options):
        super().__init__(calls=len(script), **options)
        self.script, self.of_agents = script, of_agents
        self.summaries = 0
        self._http.RequestHandlerClass = _ScriptedHandler


class _ScriptedHandler(_Handler):
    def reply(self, kind, body, usage):
        answer = self.scripted(body, str(len(self.server.standin.seen)), usage)
        if body.get("stream") or "stream" in self.path:
            self.stream(_with_namespaces(event) for event in EVENTS[kind](answer))
        else:
            self.answer(200, json.loads(_with_namespaces(json.dumps(WHOLE[kind](answer)))))

    def scripted(self, body, key, usage):
        schema = schema_in(body)
        if schema is not None:
            return Answer(id=key, text=json.dumps(instance_of(schema)), used=usage)
        newest = json.dumps((body.get("messages") or body.get("input") or [""])[-1])
        if any(asks in newest for asks in _ASKS):
            self.server.standin.summaries += 1
            return Answer(id=key, text=SUMMARY, used=usage)
        return Answer(id=key, call=self.next_of_script(body), used=usage)

    def next_of_script(self, body):
        """The next call of the script; None for a text."""
        standin = self.server.standin
        if not body.get("tools"):  # a title
            return None
        agent = agent_of({name.lower(): value for name, value in self.headers.items()}) if standin.of_agents else ""
        script = standin.of_agents if agent else standin.script
        number, _ = standin.next_step(agent)
        if number > len(script):
            return None
        name, arguments = script[number - 1]
        return (
            f"call_{number}{'_of_' * bool(agent)}{agent[-12:]}",
            name,
            {key: _filled(value, body) for key, value in arguments.items()},
        )


def _filled(value, body):
    if value != "{newest}":
        return value
    found = _REFERENCE.findall(json.dumps(body.get("messages") or body.get("input")))
    return found[-1] if found else "nothing"


def _with_namespaces(event):
    """An event as Codex reads it: the namespace of a function beside its name."""
    return event.replace('"name": "mcp__gc/', '"namespace": "mcp__gc", "name": "')
