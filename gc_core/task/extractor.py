"""Extracts the task state without a model, item by item."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from gc_core.relevance.call_results import verdicts_in
from gc_core.relevance.reruns import repeats
from gc_core.relevance.tool_calls import CHANGES, CallKind, ToolCall, arguments_of, first_line
from gc_core.summaries.call_outcomes import NO_RESULT
from gc_core.task import named_records as named
from gc_core.task import phrases, plans
from gc_core.task import statements as said
from gc_core.task import touched_files as touched
from gc_core.task.draft import Draft, with_reasons
from gc_core.task.failures import failure_of
from gc_core.task.meaning import words_of
from gc_core.task.touched_files import Names
from gc_core.task.values import (
    MOST_LESSONS,
    MOST_WAITING,
    MOST_WORDS,
    REQUEST,
    Constraint,
    Decision,
    ErrorPattern,
    OpenQuestion,
    Reason,
    Resolution,
    TaskState,
    ToolStats,
    WaitingCall,
)
from gc_core.values.items import Item, ItemKind, number_of

_SHORT = 160
_FEW_WORDS = 2


@attrs.frozen
class DeterministicExtractor:
    """
    Extracts demands, decisions, questions, plans, files, errors and their resolutions, by fixed words and by what calls
    did; asks no model.

    The number of batches in which items arrive does not matter, as long as no bound of the state is reached in between.
    """

    def extract(self, state: TaskState, items: Sequence[Item], objective: str) -> TaskState:
        """Return the state updated from these items: O(items), and O(state) once."""
        objective = objective or state.objective
        if not items:
            return state if objective == state.objective else attrs.evolve(state, objective=objective)
        draft = Draft.of(state)
        walk = _Walk(draft=draft, names=Names.in_(draft))
        for item in items:
            walk.take(item)
        return draft.frozen(objective)


@attrs.frozen(kw_only=True)
class _Walk:
    """Reads items into a draft, in order."""

    draft: Draft
    names: Names

    def take(self, item: Item) -> None:
        self.draft.newest = item.id
        match item.kind:
            case ItemKind.USER_TEXT:
                if not item.synthetic:
                    self._user(item)
            case ItemKind.ASSISTANT_TEXT:
                self._enter(item)
                if not item.synthetic:
                    self._assistant(item)
            case ItemKind.THINKING:
                self._enter(item)
                thoughts = said.reasons_in(item)
                if thoughts:
                    self._note(thoughts=(*self.draft.cursor.thoughts, *thoughts)[-said.MOST_THOUGHTS :])
            case ItemKind.TOOL_CALL:
                self._enter(item)
                self._call(item)
            case ItemKind.TOOL_RESULT:
                self._result(item)

    # -- speakers ------------------------------------------------------------------------------------------------

    def _user(self, item: Item) -> None:
        if item.turn != self.draft.cursor.turn or not self.draft.cursor.request:
            self._note(turn=item.turn, request=item.id, failing="")
        asked = any(question.by == "assistant" and question.in_force for question in self.draft.questions)
        self._answered("assistant", item)
        text = said.own_words(item)
        if not text.strip():
            return
        statements = said.by_user(text, asked=asked)
        for stated in statements.stated:
            demand = Constraint(text=stated.text, item=item.id, turn=item.turn)
            self.draft.hear(demand, is_rule=stated.form is not None)
        self._reported(statements.failures, item)
        self._named(named.paths_in(text, quoted=False), item)
        self._asked("user", text, item)

    def _assistant(self, item: Item) -> None:
        statements = said.by_assistant(item.text)
        self._settled(statements, item)
        self._reported(statements.failures, item)
        self._fixed(statements.fixes, item)
        if statements.successes:
            self._goes_well(statements.successes[-1], item)
        self._named(named.paths_in(item.text, quoted=True), item)
        steps = plans.plan_in_text(item.text)
        if steps:
            plans.take_plan(self.draft, steps, item, plans.TEXT)
        plans.take_done(self.draft, item.text, item)
        if not self.draft.cursor.called:
            self._note(spoken=(*self.draft.cursor.spoken, item.id))
            self._answered("user", item)
            self._asked("assistant", item.text, item)

    def _enter(self, item: Item) -> None:
        """Begin or continue the unit of an assistant's item."""
        if item.unit != self.draft.cursor.unit:
            self._note(unit=item.unit, thoughts=(), spoken=(), called=False)

    def _settled(self, statements: said.Said, item: Item) -> None:
        """Note what the assistant settled, with its reasons."""
        for text in statements.decisions:
            decision = Decision(text=text, item=item.id, turn=item.turn)
            chain = said.chain_of(decision, item, statements.reasons, self.draft.cursor.thoughts)
            self.draft.decide(with_reasons(decision, chain))

    def _reported(self, failures: Sequence[str], item: Item) -> None:
        """Note reported problems."""
        for failure in failures:
            self.draft.fail(ErrorPattern(text=failure, item=item.id, turn=item.turn))

    def _named(self, paths: Sequence[str], item: Item) -> None:
        """Note unknown files that someone mentions; calls report the actions on known ones."""
        for path in paths:
            name = self.names.known_as(touched.path_name(path))
            if name and name not in self.draft.entities and not self.names.of_path(name):
                self.draft.touch(name, touched.kind_of(name), named.NAMED, item.id, item.turn)
                self.names.add(name)

    # -- questions -------------------------------------------------------------------------------------------------

    def _asked(self, by: str, text: str, item: Item) -> None:
        for question in said.questions_in(text):
            self.draft.questions.append(OpenQuestion(text=question, item=item.id, turn=item.turn, by=by))

    def _answered(self, by: str, item: Item) -> None:
        """Mark questions as answered: the user's by a reply without calls, the assistant's by the user."""
        for place, question in enumerate(self.draft.questions):
            if question.by == by and question.in_force:
                self.draft.questions[place] = attrs.evolve(question, answered_by=item.id)

    def _goes_on(self) -> None:
        """Note that the unit calls a tool: its text was neither an answer nor a question to the user."""
        spoken = frozenset(self.draft.cursor.spoken)
        self._note(spoken=(), called=True)
        if not spoken:
            return
        self.draft.questions[:] = [
            attrs.evolve(question, answered_by="") if question.answered_by in spoken else question
            for question in self.draft.questions
            if question.item not in spoken
        ]

    # -- calls and results -----------------------------------------------------------------------------------------

    def _call(self, item: Item) -> None:
        if not self.draft.cursor.called:
            self._goes_on()
        call, draft = ToolCall.of(item), self.draft
        arguments = arguments_of(item)
        stats = draft.tools.get(item.name, ToolStats())
        draft.tools[item.name] = attrs.evolve(stats, calls=stats.calls + 1)
        plans.take_call(draft, item)
        found = [attrs.evolve(touch, name=self.names.known_as(touch.name)) for touch in touched.touches_of(item, call)]
        for touch in found:
            draft.touch(touch.name, touch.kind, self._done_to(touch), item.id, item.turn)
            if touch.kind in {touched.FILE, touched.TEST}:
                self.names.add(touch.name)
        for name, kind, state in (*named.records_in(item, arguments, call.kind), *named.tables_in(call.asked)):
            draft.touch(name, kind, state, item.id, item.turn)
        edits = call.changes
        own = found[0].name if found else ""
        imports = [touched.imported_by(text, self.names, own) for text in call.new_texts] if edits else []
        draft.waiting[item.id] = WaitingCall(
            item=item.id,
            turn=item.turn,
            tool=item.name,
            kind=call.kind.name,
            asked=call.asked,
            keys=tuple(sorted(call.keys))[:MOST_WORDS],
            words=tuple(sorted(call.words, key=lambda word: (-len(word), word)))[:MOST_WORDS],
            touched=tuple(touch.name for touch in found),
            symbols=touched.symbols_in(call) if edits else (),
            imports=tuple(dict.fromkeys(name for names in imports for name in names)),
        )
        if len(draft.waiting) > 2 * MOST_WAITING:
            del draft.waiting[next(iter(draft.waiting))]

    def _done_to(self, touch: touched.Touch) -> str:
        """Note an action on a file; writing to a known file is editing it."""
        if touch.state == touched.CREATED and touch.name in self.draft.entities:
            return "edited"
        return touch.state

    def _result(self, item: Item) -> None:
        if item.synthetic and item.text.startswith(NO_RESULT):
            return
        draft = self.draft
        waiting = draft.waiting.pop(item.call, None) or WaitingCall(
            item=item.call, turn=item.turn, tool=item.name, kind=CallKind.OTHER.name
        )
        kind = CallKind[waiting.kind]
        error = failure_of(item, kind)
        if error:
            self._failed(item, waiting, error)
        else:
            self._went_well(item, waiting, kind)

    def _failed(self, item: Item, waiting: WaitingCall, error: str) -> None:
        draft = self.draft
        stats = draft.tools.get(waiting.tool, ToolStats())
        draft.tools[waiting.tool] = attrs.evolve(stats, failures=stats.failures + 1)
        draft.fail(
            ErrorPattern(
                text=error, item=item.id, turn=item.turn, tool=waiting.tool, asked=waiting.asked,
                keys=waiting.keys, words=waiting.words,
            )
        )  # fmt: skip
        for name in waiting.touched:
            draft.mark(name, "failed", item.id, item.turn)
        if waiting.kind == CallKind.RUN.name:
            tests = touched.failed_tests(item.text)
            for name in tests:
                draft.touch(name, touched.kind_of(name), "failed", item.id, item.turn)
                self.names.add(name)
            tests = tests or tuple(name for name in waiting.touched if touched.kind_of(name) == touched.TEST)
            self._tested(tests, item)
            if tests:
                self._note(failing=tests[0])

    def _went_well(self, item: Item, waiting: WaitingCall, kind: CallKind) -> None:
        draft = self.draft
        self._resolve(item, waiting)
        if kind in CHANGES:
            self._edited(item, waiting)
        elif kind is CallKind.RUN:
            tests = [name for name in waiting.touched if touched.kind_of(name) == touched.TEST]
            for name in tests:
                if draft.entities[name].state in {"run", "failed"}:
                    draft.mark(name, "passed", item.id, item.turn)
            self._tested(tests, item)
            if draft.cursor.failing in tests:
                self._note(failing="")
        elif kind is CallKind.READ and len(waiting.touched) == 1:
            for name in touched.imported_by(item.text, self.names, waiting.touched[0]):
                draft.relate(waiting.touched[0], "imports", name, item.id)
        if kind in {*CHANGES, CallKind.RUN}:
            done = f"{waiting.tool} {waiting.touched[0] if kind in CHANGES and waiting.touched else waiting.asked}"
            self._note(done=Reason(text=done.rstrip(), item=waiting.item))

    def _tested(self, tests: Sequence[str], item: Item) -> None:
        for test in tests:
            subject = touched.subject_of_test(test, self.draft.entities, self.names)
            if subject:
                self.draft.relate(test, "tests", subject, item.id)

    def _edited(self, item: Item, waiting: WaitingCall) -> None:
        """Note an edit: its change, its imports, and its purpose."""
        draft, by = self.draft, waiting.item
        for name in waiting.touched:
            for symbol in waiting.symbols:
                draft.touch(symbol, touched.SYMBOL, "edited", by, item.turn)
                draft.relate(name, "edits", symbol, by)
            for imported in waiting.imports:
                draft.relate(name, "imports", imported, by)
            cause = draft.cursor.failing
            if not cause and draft.cursor.request:
                cause = f"turn {draft.cursor.turn}"
                if cause not in draft.entities:
                    draft.touch(cause, REQUEST, "asked", draft.cursor.request, draft.cursor.turn)
            if cause and cause != name:
                draft.relate(cause, "causes", name, by)

    # -- errors ----------------------------------------------------------------------------------------------------

    def _resolve(self, item: Item, waiting: WaitingCall) -> None:
        """Mark errors of the same command, or of the same call, as overcome by this success."""
        failed = [
            (key, error) for key, error in self.draft.errors.items() if error.tool == waiting.tool and error.in_force
        ]
        if not failed:
            return
        call = _call_of(waiting, CallKind[waiting.kind])
        verdicts = verdicts_in(item.text)[-1:] or [first_line(item.text, _SHORT)]
        for key, error in failed:
            if repeats(call, _call_of(error)):
                other = waiting.asked != error.asked
                itself = Reason(text=f"{waiting.tool} {waiting.asked}", item=waiting.item) if other else None
                self.draft.resolve(key, verdicts[0] or "it succeeded", item.id, itself)

    def _goes_well(self, sentence: str, item: Item) -> None:
        """Note that a problem reported in this turn is solved."""
        for key, error in self.draft.errors.items():
            if not error.tool and error.in_force and error.turn == item.turn and error.item != item.id:
                self.draft.resolve(key, sentence, item.id, None)

    def _fixed(self, fixes: Sequence[str], item: Item) -> None:
        """
        Keep what the assistant says about how an error was overcome, with the error or by itself. A call that failed is
        overcome by its success alone.
        """
        for sentence in fixes:
            key = self._meant(sentence, item.turn)
            if key is None:
                if phrases.names_error(sentence):
                    resolution = Resolution(text=sentence, item=item.id, said=True)
                    self.draft.fail(ErrorPattern(text=sentence, item=item.id, turn=item.turn, resolution=resolution))
                continue
            error, done = self.draft.errors[key], self.draft.cursor.done
            if error.tool and error.in_force:
                self.draft.explain(key, Resolution(text=sentence, item=item.id, said=True))
                continue
            known = error.resolution or Resolution(text="", item="")
            before = (*error.before, known)[-MOST_LESSONS:] if known.said and known.text != sentence else error.before
            if not known.item and done is not None and number_of(done.item) > number_of(error.item):
                known = attrs.evolve(known, after=done.text, after_item=done.item)
            resolution = attrs.evolve(known, text=sentence, item=item.id, said=True)
            self.draft.errors[key] = attrs.evolve(error, before=before, resolution=resolution)

    def _meant(self, sentence: str, turn: int) -> tuple[str, str] | None:
        """
        Return the error that a sentence refers to: the one sharing most words with it, otherwise
        the turn's newest.
        """
        words = words_of(sentence)
        best, most = None, _FEW_WORDS
        for key, error in self.draft.errors.items():
            if not error.tool and not (error.in_force and error.turn == turn):
                continue
            shared = len(words & words_of(error.text)) + len((words & words_of(error.asked)) if error.asked else ())
            if shared >= most:
                best, most = key, shared
        if best is not None or phrases.names_error(sentence):
            return best
        newest = next(reversed(self.draft.errors), None)
        if newest is None:
            return None
        error = self.draft.errors[newest]
        return newest if error.turn == turn and not (error.tool and error.in_force) else None

    def _note(self, **changes: Any) -> None:
        self.draft.cursor = attrs.evolve(self.draft.cursor, **changes)


def _call_of(known: WaitingCall | ErrorPattern, kind: CallKind = CallKind.OTHER) -> ToolCall:
    """Return a call as far as it is remembered."""
    return ToolCall(
        name=known.tool, kind=kind, asked=known.asked, keys=frozenset(known.keys), words=frozenset(known.words)
    )
