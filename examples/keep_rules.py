"""
A plugin: messages that carry a rule of AGENTS.md are held until usage reaches ``pressure_percent``.

Register the module (``Plugins.register``), or name it in an entry point of the group ``gc_core``.
"""

import gc_core as gc

MARK = "AGENTS.md"
"""What a message with such a rule names."""

RULE_WORDS = ("must", "never", "always", "do not")


@gc.hookimpl
def gc_classify(item: gc.Item) -> gc.GCPolicy | None:
    """Hold what names the file and sounds like a rule; leave everything else to others."""
    if MARK not in item.text or item.form is gc.Form.STUB:
        return None
    text = item.text.lower()
    return gc.GCPolicy.PRESERVABLE if any(word in text for word in RULE_WORDS) else None
