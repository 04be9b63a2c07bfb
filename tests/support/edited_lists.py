"""
Lists of messages as callers hold them, edited at random: appended to, sent again, cut, forked, rewritten, compacted.

Every text carries a unique token, so that a test can see what of which list is in a request.
"""

import copy
import json
import random

FORMATS = ("openai", "anthropic", "responses", "gemini")

SIZES = (3, 3, 10, 60, 250, 700)
"""Words of a tool result."""


class Shapes:
    """Messages of one provider, with unique tokens in their texts."""

    def __init__(self, provider, chance):
        self.provider, self.chance, self.count = provider, chance, 0

    def token(self):
        self.count += 1
        return f"T{self.count:05d}x"

    def text(self, words):
        return " ".join([self.token(), *("word" for _ in range(words))])

    def user(self, words=8):
        text = self.text(words)
        match self.provider:
            case "gemini":
                return {"role": "user", "parts": [{"text": text}]}
            case "anthropic" if self.chance.random() < 0.5:
                return {"role": "user", "content": [{"type": "text", "text": text}]}
        return {"role": "user", "content": text}

    def answer(self, words=20):
        text = self.text(words)
        match self.provider:
            case "gemini":
                return [{"role": "model", "parts": [{"text": text}]}]
            case "responses":
                content = [{"type": "output_text", "text": text, "annotations": []}]
                return [{"type": "message", "role": "assistant", "id": f"msg_{self.token()}", "content": content}]
        return [{"role": "assistant", "content": text}]

    def step(self):
        """A reply that calls tools, and the results, as the list holds them."""
        keys = [f"call_{self.token()}" for _ in range(self.chance.choice((1, 1, 1, 2, 3)))]
        outputs = [self.text(self.chance.choice(SIZES)) for _ in keys]
        calls = [(key, {"path": self.token()}) for key in keys]
        match self.provider:
            case "openai":
                made = [
                    {"id": key, "type": "function", "function": {"name": "read", "arguments": json.dumps(given)}}
                    for key, given in calls
                ]
                answers = [
                    {"role": "tool", "tool_call_id": key, "content": text}
                    for key, text in zip(keys, outputs, strict=True)
                ]
                return [{"role": "assistant", "content": None, "tool_calls": made}, *answers]
            case "anthropic":
                made = [{"type": "tool_use", "id": key, "name": "read", "input": given} for key, given in calls]
                answers = [
                    {"type": "tool_result", "tool_use_id": key, "content": text}
                    for key, text in zip(keys, outputs, strict=True)
                ]
                return [{"role": "assistant", "content": made}, {"role": "user", "content": answers}]
            case "responses":
                made = [
                    {"type": "function_call", "call_id": key, "name": "read", "arguments": json.dumps(given)}
                    for key, given in calls
                ]
                answers = [
                    {"type": "function_call_output", "call_id": key, "output": text}
                    for key, text in zip(keys, outputs, strict=True)
                ]
                return [*made, *answers]
        made = [{"functionCall": {"id": key, "name": "read", "args": given}} for key, given in calls]
        answers = [
            {"functionResponse": {"id": key, "name": "read", "response": {"output": text}}}
            for key, text in zip(keys, outputs, strict=True)
        ]
        return [{"role": "model", "parts": made}, {"role": "user", "parts": answers}]


class EditedList:
    """
    A caller's list that is changed step by step.

    ``blocks`` are turns or steps that may not be taken apart; the flat list is ``messages``. ``did`` names the last
    change.
    """

    def __init__(self, provider, seed):
        self.chance = random.Random(seed)  # noqa: S311 - no secrets here
        self.shapes = Shapes(provider, self.chance)
        self.blocks = [[self.shapes.user(15)]]
        self.others = []
        self.did = "began"

    @property
    def messages(self):
        return [message for block in self.blocks for message in block]

    def change(self):
        """One change; the list ends with something that a model is to answer afterwards."""
        changes = [self.extend] * 8 + [self.retry, self.cut, self.fork, self.rewrite, self.edit_last, self.compact]
        self.chance.choice(changes)()
        self.blocks = copy.deepcopy(self.blocks)  # a caller's next request has objects of its own
        if self.shapes.provider == "anthropic":
            self._move_mark()

    def extend(self):
        self.did = "extended"
        for _ in range(self.chance.choice((1, 1, 2, 4))):
            if self.chance.random() < 0.2:
                self.blocks += [self.shapes.answer(), [self.shapes.user()]]
            else:
                self.blocks.append(self.shapes.step())

    def retry(self):
        self.did = "sent again"

    def cut(self):
        self.did = "cut"
        self._end_before(self.chance.randrange(1, len(self.blocks) + 1))

    def fork(self):
        """Two lists with one head take turns."""
        self.did = "forked"
        self.others.append(self.blocks)
        if len(self.others) > 1 and self.chance.random() < 0.7:
            self.blocks = self.others.pop(0)
        else:
            self._end_before(self.chance.randrange(1, len(self.blocks) + 1))
        self.blocks = [*self.blocks, self.shapes.step()]

    def rewrite(self):
        self.did = "rewritten"
        place = self.chance.randrange(len(self.blocks))
        if len(self.blocks[place]) > 1:
            self.blocks[place] = self.shapes.step()
        elif self._is_users(self.blocks[place]):
            self.blocks[place] = [self.shapes.user()]

    def edit_last(self):
        """A reminder at the end that is another one with each call."""
        self.did = "edited at the end"
        if self._is_users(self.blocks[-1]):
            self.blocks[-1] = [self.shapes.user()]
        else:
            self.blocks += [self.shapes.answer(), [self.shapes.user()]]

    def compact(self):
        self.did = "compacted"
        kept = self.blocks[-self.chance.randrange(1, 4) :]
        if not self._is_users(kept[0]) and len(kept[0]) == 1:
            kept = kept[1:]
        self.blocks = [[self.shapes.user(60)], *kept]

    def _end_before(self, place):
        """Cut there, and further until the model is to speak."""
        self.blocks = self.blocks[:place]
        while len(self.blocks[-1]) == 1 and not self._is_users(self.blocks[-1]):
            self.blocks.pop()

    def _is_users(self, block):
        return block[0].get("role") == "user"

    def _move_mark(self):
        """The one mark of the list moves to its last message; texts under it are blocks."""
        for message in self.messages:
            for block in message["content"] if isinstance(message["content"], list) else ():
                block.pop("cache_control", None)
        last = self.messages[-1]
        if isinstance(last["content"], str):
            last["content"] = [{"type": "text", "text": last["content"]}]
        last["content"][-1]["cache_control"] = {"type": "ephemeral"}


def tokens_in(messages):
    """The unique tokens in what is sent, or held."""
    return {word for word in json.dumps(list(messages)).replace('"', " ").replace("_", " ").split() if _is_token(word)}


def _is_token(word):
    return len(word) == 7 and word[0] == "T" and word[-1] == "x" and word[1:6].isdigit()
