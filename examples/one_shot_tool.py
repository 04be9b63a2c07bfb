"""
A plugin: the output of one tool is EPHEMERAL at once, and stays a little longer while the agent still uses it.

It decides anew at every collection: ``age`` is the number of steps since, ``reuse`` how many of the output's names the
agent has used since.
"""

import gc_core as gc

TOOL = "screenshot"
FRESH_STEPS = 3


@gc.hookimpl
def gc_classify(item: gc.Item, age: int, reuse: int) -> gc.GCPolicy | None:
    """EPHEMERAL, unless the agent works with it right now."""
    if item.kind is not gc.ItemKind.TOOL_RESULT or item.name != TOOL:
        return None
    in_use = reuse > 0 and age < FRESH_STEPS
    return gc.GCPolicy.PARTIAL if in_use else gc.GCPolicy.EPHEMERAL
