"""
A plugin with a policy of one's own: the rules of a project stay, wherever they come from.

- The AGENTS.md at the root is a source of its own, ``project``: LOCKED, with a cap, at the head of every request. The
  host gives its text once: ``session.system(source="project", agents=path.read_text())``.
- An AGENTS.md or CLAUDE.md that a tool reads later, deeper in the tree, stays whole until usage reaches
  ``pressure_percent``, while other results shrink.
- What users ruled out in a few words is LOCKED like the original request.

Register an object of it (``Plugins.register``), or name a module that holds one in an entry point of ``gc_core``. See
``keep_rules.py`` for the smallest such plugin, and ``one_shot_tool.py`` for a policy that changes with time. A host
that knows what it appends needs no plugin: ``session.append(message, policy=gc.GCPolicy.PRESERVABLE)``.
"""

from collections.abc import Iterable

import attrs

import gc_core as gc

LAYER = 35
"""Behind what organisation and team share, before what belongs to one user: sessions of one project share it."""


@attrs.frozen(kw_only=True)
class ProjectRules:
    """
    Rules of a project, held.

    Attributes:
        files: Names of files that hold rules.
        cap: Tokens that the source ``project`` may have.
        words: What rules something out, in a user's message.
        longest: Tokens of a message that is LOCKED for such a word at most; longer ones stay PRESERVABLE.

    """

    files: tuple[str, ...] = ("AGENTS.md", "CLAUDE.md")
    cap: int = attrs.field(default=8_000, validator=attrs.validators.gt(0))
    words: tuple[str, ...] = ("never", "must not", "do not", "don't")
    longest: int = attrs.field(default=200, validator=attrs.validators.gt(0))

    @gc.hookimpl
    def gc_register_sources(self) -> Iterable[gc.InstructionSource]:
        """One source for the rules at the root."""
        return [gc.InstructionSource(name="project", policy=gc.GCPolicy.LOCKED, layer=LAYER, cap=self.cap)]

    @gc.hookimpl
    def gc_classify(self, item: gc.Item) -> gc.GCPolicy | None:
        """How strongly rules are held; of anything else it has no opinion."""
        if item.kind is gc.ItemKind.TOOL_RESULT and self._is_file(item.text):
            return gc.GCPolicy.PRESERVABLE
        if item.kind is gc.ItemKind.USER_TEXT and item.tokens <= self.longest and self._rules_out(item.text):
            return gc.GCPolicy.LOCKED
        return None

    def _is_file(self, text: str) -> bool:
        """Whether the first line names such a file, as tools that read files do."""
        first = text.partition("\n")[0]
        return any(name in first for name in self.files)

    def _rules_out(self, text: str) -> bool:
        lowered = text.lower()
        return any(word in lowered for word in self.words)
