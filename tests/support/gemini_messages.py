"""
Hypothesis strategies for sessions of Gemini contents, in every shape that agents send.

As the other formats' sessions: parallel calls, ids that lack or repeat, thoughts, signatures, media, unknown parts;
keys in camelCase and in snake_case.
"""

import base64

from hypothesis import strategies as st

from tests.support.messages import PNG, TOOLS, json_objects, texts, unknown_fields

SNAKE = {
    "functionCall": "function_call",
    "functionResponse": "function_response",
    "inlineData": "inline_data",
    "mimeType": "mime_type",
    "thoughtSignature": "thought_signature",
}
signatures = st.binary(min_size=3, max_size=60).map(lambda data: base64.b64encode(data).decode())
ids = st.none() | st.sampled_from(["id1", "id2", "id3"])


def snaked(value):
    """The value with its keys as the Python SDK writes them."""
    if isinstance(value, dict):
        return {
            SNAKE.get(key, key): inner if key in {"args", "response"} else snaked(inner) for key, inner in value.items()
        }
    return [snaked(inner) for inner in value] if isinstance(value, list) else value


def spelled(contents):
    """In either way to write the keys."""
    return st.builds(lambda content, snake: snaked(content) if snake else content, contents, st.booleans())


def _signed(parts, *, often=False):
    sealed = st.builds(lambda part, seal: {**part, "thoughtSignature": seal}, parts, signatures)
    return sealed if often else parts | sealed


def _with_unknown(parts):
    return st.builds(lambda part, extra: {**part, **extra}, parts, unknown_fields)


def _lists(parts, max_size=3):
    return st.lists(parts, min_size=1, max_size=max_size)


text_parts = _with_unknown(texts.map(lambda text: {"text": text}))
media_parts = st.sampled_from(
    [
        {"inlineData": {"mimeType": "image/png", "data": PNG}},
        {"inlineData": {"mimeType": "application/pdf", "data": "JVBERi0="}},
        {"fileData": {"mimeType": "image/png", "fileUri": "https://example.org/cat.png"}},
        {"fileData": {"mimeType": "video/mp4", "fileUri": "files/1"}},
    ]
)
unknown_parts = st.sampled_from(
    [
        {"executableCode": {"language": "PYTHON", "code": "print(1)"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
        {"hologram": {"payload": 1}},
    ]
)
thoughts = _signed(texts.map(lambda text: {"text": text, "thought": True}))
user_parts = text_parts | media_parts
user_contents = spelled(_lists(user_parts).map(lambda parts: {"role": "user", "parts": parts}))
silent_seals = signatures.map(lambda seal: {"text": "", "thoughtSignature": seal})


@st.composite
def calls(draw):
    """A functionCall part, with its id or without."""
    name, given_id = draw(st.sampled_from(TOOLS)), draw(ids)
    call = {"name": name, "args": draw(json_objects)} | ({"id": given_id} if given_id else {})
    if not call["args"] and draw(st.booleans()):
        del call["args"]
    return draw(_signed(_with_unknown(st.just({"functionCall": call}))))


@st.composite
def replies(draw, *, max_calls=3):
    """A model content: thoughts, text and unknown parts, then calls; perhaps the signature of it all at its end."""
    parts = draw(st.lists(thoughts, max_size=2))
    batch = draw(st.lists(calls(), max_size=max_calls))
    said = _signed(text_parts) | unknown_parts
    parts += draw(st.lists(said, max_size=2) if batch else _lists(said, 2))
    parts += batch or draw(st.lists(silent_seals, max_size=1))
    return {"role": "model", "parts": parts}


responses = (
    st.builds(lambda key, text: {key: text}, st.sampled_from(["output", "error", "result"]), st.just("") | texts)
    | json_objects
    | st.just({"error": "no", "code": 3})
)
extras = st.just({}) | st.just({"parts": [{"inlineData": {"mimeType": "image/png", "data": PNG}}]})


def called(content):
    """The calls of a content, whatever its keys."""
    found = (part.get("functionCall") or part.get("function_call") for part in content["parts"])
    return [call for call in found if call]


def _answers(draw, content):
    made = []
    for call in called(content):
        named = {"id": call["id"]} if call.get("id") else draw(st.just({}) | st.just({"id": f"{call['name']}_7"}))
        result = {**named, "name": call["name"], "response": draw(responses), **draw(extras)}
        made.append({"functionResponse": result})
    return made


def _result_contents(draw, answers, *, mixed):
    """The results in one user content or (mixed) in several, perhaps with other parts next to them."""
    if not answers:
        return []
    cut = draw(st.integers(1, len(answers))) if mixed else len(answers)
    contents = [{"role": "user", "parts": group} for group in (answers[:cut], answers[cut:]) if group]
    if mixed:
        contents[-1]["parts"] = draw(st.permutations(contents[-1]["parts"] + draw(st.lists(user_parts, max_size=1))))
    return contents


def _some(draw, answers, *, lack):
    return answers[: draw(st.integers(0, len(answers)))] if lack and draw(st.booleans()) else answers


@st.composite
def gemini_sessions_strategy(draw, *, max_turns=3, max_steps=3, pending=True, dead=True, mixed=True):
    """
    A session of Gemini contents.

    ``pending`` lets the last batch wait for some of its results, ``dead`` lets a batch inside lack some for good, and
    ``mixed`` lets results come in several contents, next to other parts, and replies after replies.
    """
    contents = []
    for turn in range(draw(st.integers(1, max_turns))):
        contents += draw(_lists(user_contents, 2))
        for step in range(draw(st.integers(0, max_steps))):
            reply = draw(replies())
            lack = dead and step == max_steps - 1 and turn < max_turns - 1
            said = contents[-1]["role"] == "model"
            if said and not mixed:
                contents += draw(_lists(user_contents, 1))
            contents += [reply, *_result_contents(draw, _some(draw, _answers(draw, reply), lack=lack), mixed=mixed)]
    if pending and draw(st.booleans()):
        reply = draw(replies())
        contents += [reply, *_result_contents(draw, _some(draw, _answers(draw, reply), lack=True), mixed=mixed)]
    return [snaked(content) for content in contents] if draw(st.booleans()) else contents


@st.composite
def result_contents(draw):
    """A user content with only results, or in any order with other parts."""
    answers = _answers(draw, {"role": "model", "parts": draw(_lists(calls()))})
    return {"role": "user", "parts": draw(st.permutations(answers + draw(st.lists(user_parts, max_size=2))))}


gemini_contents = user_contents | spelled(replies()) | spelled(result_contents())
