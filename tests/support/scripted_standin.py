"""The stand-in provider with a script: which tools of the client's are called, MCP servers' among them."""

from __future__ import annotations

import json
import re

from tests.support.standin import EVENTS, WHOLE, StandIn, _Handler

SUMMARY = "<analysis>done</analysis><summary>The files were read.</summary>"
_REFERENCE = re.compile(r"gc_recall (i\d+(?:-i\d+)?(?:@[0-9a-f]{6})?)")
_ASKS = ("Respond with TEXT ONLY", "CONTEXT CHECKPOINT COMPACTION")


class ScriptedStandIn(StandIn):
    """
    Calls the tools of ``script`` in order, each a name and its arguments, then says that it is done.

    ``namespace/name`` is a function of a namespace, as Codex has it. ``{newest}`` among the arguments stands for the
    newest id that the request's references name. A request for a summary gets one. Requests of sub-agents follow the
    script too.
    """

    def __init__(self, script, **options):
        super().__init__(calls=len(script), **options)
        self.script = script
        self.summaries = 0
        self._http.RequestHandlerClass = _ScriptedHandler


class _ScriptedHandler(_Handler):
    def reply(self, kind, body, usage):
        standin = self.server.standin
        call, text = None, None
        newest = json.dumps((body.get("messages") or body.get("input") or [""])[-1])
        if any(asks in newest for asks in _ASKS):
            standin.summaries += 1
            text = SUMMARY
        elif body.get("tools"):
            call = standin.next_call()
        if call is not None:
            name, arguments = standin.script[int(call[0].removeprefix("call_")) - 1]
            call = (call[0], name, {key: _filled(value, body) for key, value in arguments.items()})
        if body.get("stream") or "stream" in self.path:
            self.stream(_said(event, text) for event in EVENTS[kind](call, usage))
        else:
            self.answer(200, json.loads(_said(json.dumps(WHOLE[kind](call, usage)), text)))


def _filled(value, body):
    if value != "{newest}":
        return value
    found = _REFERENCE.findall(json.dumps(body.get("messages") or body.get("input")))
    return found[-1] if found else "nothing"


def _said(event, text):
    """An event with the summary for its text, and with namespaces as Codex reads them."""
    if text is not None:
        event = event.replace(json.dumps("All files were read."), json.dumps(text))
    for place in ("mcp__gc",):
        event = event.replace(f'"name": "{place}/', f'"namespace": "{place}", "name": "')
    return event
