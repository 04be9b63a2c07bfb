"""What reading a transcript promises: every kind is known by its content, and what is wrong is named, not fatal."""

import json

import pytest
from ctxgc.evaluation.transcripts import read_transcript
from hypothesis import HealthCheck, given, settings

from gc_core import GCConfig, GCSession
from gc_core.errors import TranscriptError
from gc_core.providers import format_named
from gc_core.providers.anthropic.format import AnthropicFormat
from gc_core.values.items import ItemKind
from tests.support.corpus import native_sessions, openai_sessions, require_corpus
from tests.support.messages import anthropic_sessions_strategy, openai_sessions_strategy

USER = {"role": "user", "content": "Fix the login."}
REPLY = {"role": "assistant", "content": "Done."}
CALL = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
SCHEMA = {"name": "read", "input_schema": {"type": "object"}}


@pytest.fixture
def write(tmp_path):
    """Writes a file of lines (dicts become JSON) or one document, and returns its path."""

    def write(content, name="session.jsonl"):
        path = tmp_path / name
        lines = content if isinstance(content, list) else [content]
        path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines))
        return path

    return write


# --- recorded sessions ----------------------------------------------------------------------------------------------


def test_there_are_recorded_sessions():
    require_corpus()


@pytest.mark.parametrize("path", openai_sessions(), ids=lambda path: path.stem)
def test_a_recorded_openai_session_is_read_whole(path):
    transcript = read_transcript(path)
    lines = [json.loads(line) for line in path.read_text().split("\n") if line]
    leading = [line["content"] for line in lines[: len(lines) - len(transcript.messages)]]
    assert transcript.format == "openai"
    assert list(transcript.system) == leading
    assert list(transcript.messages) == lines[len(leading) :]
    assert all(message["role"] != "system" for message in transcript.messages[:1])
    assert transcript.warnings == ()


@pytest.mark.parametrize("path", native_sessions("anthropic"), ids=lambda path: path.stem)
def test_a_recorded_anthropic_session_is_read_whole(path):
    transcript, document = read_transcript(path), json.loads(path.read_text())
    assert transcript.format == "anthropic"
    assert list(transcript.messages) == document["messages"]
    assert "".join(transcript.system) == document.get("system", "")
    assert transcript.warnings == ()


@pytest.mark.parametrize("path", native_sessions("claude-code"), ids=lambda path: path.stem)
def test_a_recorded_claude_code_session_answers_its_calls_in_the_next_message(path):
    transcript = read_transcript(path)
    form = AnthropicFormat()
    assert transcript.format == "anthropic"
    for reply, behind in zip(transcript.messages, [*transcript.messages[1:], None], strict=True):
        calls = [part.call_id for part in form.read(reply) if part.kind is ItemKind.TOOL_CALL]
        results = [part.call_id for part in form.read(behind) if part.kind is ItemKind.TOOL_RESULT] if behind else []
        assert set(calls) >= set(results)
        assert not results or behind["content"][0]["type"] == "tool_result"


@pytest.mark.parametrize("path", native_sessions("claude-code"), ids=lambda path: path.stem)
def test_no_block_of_the_main_conversation_is_lost(path):
    lines = [line for line in path.read_text().split("\n") if '"isSidechain":false' in line.replace(" ", "")]
    found = {key_of(block) for message in read_transcript(path).messages for block in blocks_of(message)}
    for line in lines:
        spoken, _ = json.JSONDecoder().raw_decode(line)
        if spoken["type"] in {"user", "assistant"} and not spoken.get("isApiErrorMessage"):
            assert {key_of(block) for block in blocks_of(spoken["message"])} <= found


@pytest.mark.parametrize(
    "native",
    [path for path in native_sessions("claude-code") if "ccviewer" not in path.name],
    ids=lambda path: path.stem,
)
def test_a_claude_code_session_says_what_its_independent_copy_says(native):
    copy = native.with_name(native.name.replace("claude-code--", "anthropic--entire-")).with_suffix(".json")
    theirs = [key_of(block) for message in json.loads(copy.read_text())["messages"] for block in blocks_of(message)]
    ours = [key_of(block) for message in read_transcript(native).messages for block in blocks_of(message)]
    assert sorted(ours) == sorted(theirs)


def blocks_of(message):
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def key_of(block):
    return json.dumps(block, sort_keys=True)


def test_glued_lines_are_both_read_with_a_warning():
    for path in native_sessions("claude-code--130d7b7e"):
        (warning,) = read_transcript(path).warnings
        assert (warning.file, warning.line, warning.expected) == (path, 128, "one JSON object a line")


@pytest.mark.parametrize("path", native_sessions("pi"), ids=lambda path: path.stem)
def test_a_session_of_pi_has_the_calls_and_results_of_its_independent_copy(path):
    copy = read_transcript(path.parents[1] / path.name)
    blocks = [block for message in read_transcript(path).messages for block in message["content"]]
    calls = [call["id"].translate({ord("|"): "_"}) for each in copy.messages for call in each.get("tool_calls") or ()]
    assert [block["id"] for block in blocks if block["type"] == "tool_use"] == calls
    assert len([block for block in blocks if block["type"] == "tool_result"]) == len(calls)


# --- kinds ----------------------------------------------------------------------------------------------------------

in_one_directory = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)


@in_one_directory
@given(messages=openai_sessions_strategy())
def test_openai_lines_and_documents_say_the_same(write, messages):
    read = read_transcript(write(messages))
    assert read == evolved(read_transcript(write({"messages": messages}, "session.json")), read)
    assert [*read.messages] == messages[len(messages) - len(read.messages) :]
    assert read.format == "openai"


@in_one_directory
@given(messages=anthropic_sessions_strategy())
def test_an_anthropic_document_is_read_as_it_is(write, messages):
    read = read_transcript(write({"system": "Help.", "messages": messages, "tools": [SCHEMA]}, "x.json"))
    assert (read.format, read.system, read.tools) == ("anthropic", ("Help.",), (SCHEMA,))
    assert [*read.messages] == messages


def evolved(transcript, other):
    return type(transcript)(
        path=other.path,
        format=transcript.format,
        system=transcript.system,
        tools=transcript.tools,
        messages=transcript.messages,
    )


def test_the_kind_is_known_by_the_content_and_not_by_the_name(write):
    assert read_transcript(write([USER, REPLY], "session.json")).messages == (USER, REPLY)
    assert read_transcript(write(json.dumps([USER, REPLY], indent=1), "session.jsonl")).messages == (USER, REPLY)
    assert read_transcript(write([USER], "session")).messages == (USER,)


def test_a_bare_list_with_tool_results_is_anthropics(write):
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]}
    assert read_transcript(write(json.dumps([USER, result]))).format == "anthropic"
    assert read_transcript(write([USER, result])).format == "anthropic"
    assert read_transcript(write([USER, REPLY])).format == "openai"


def test_the_system_text_may_be_blocks(write):
    document = {"system": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}], "messages": [USER]}
    assert read_transcript(write(document)).system == ("one", "two")


def test_leading_system_messages_are_system_texts_and_later_ones_messages(write):
    system = {"role": "system", "content": "Be brief."}
    read = read_transcript(write([system, {"role": "developer", "content": "Or not."}, USER, system]))
    assert read.system == ("Be brief.", "Or not.")
    assert read.messages == (USER, system)


def test_openai_tools_come_with_the_document(write):
    tool = {"type": "function", "function": {"name": "read"}}
    read = read_transcript(write({"messages": [USER], "tools": [tool, {"type": "function"}]}))
    assert read.tools == (tool,)
    (warning,) = read.warnings
    assert (warning.field, warning.expected) == ("tools[1].function", "an object")


def test_a_separator_inside_a_text_does_not_end_a_line(write):
    odd = {"role": "user", "content": "a\u2028b\x0bc\x85d"}
    path = write([json.dumps(odd, ensure_ascii=False), REPLY])
    assert read_transcript(path).messages == (odd, REPLY)


def test_a_byte_order_mark_and_windows_line_ends_do_no_harm(tmp_path):
    path = tmp_path / "session.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + b"\r\n".join(json.dumps(line).encode() for line in (USER, REPLY)) + b"\r\n")
    read = read_transcript(str(path))
    assert (read.messages, read.warnings) == ((USER, REPLY), ())


# --- Claude Code ----------------------------------------------------------------------------------------------------


def line(kind, content, **fields):
    message = {"role": kind, "content": content, **fields.pop("message", {})}
    return {"type": kind, "isSidechain": False, "message": message, **fields}


def spoken(block, message_id="m1", **fields):
    return line("assistant", [block], message={"id": message_id, "usage": {}}, **fields)


def call(call_id):
    return {"type": "tool_use", "id": call_id, "name": "read", "input": {}}


def result(call_id, text="x"):
    return {"type": "tool_result", "tool_use_id": call_id, "content": text}


THINKING = {"type": "thinking", "thinking": "Hm.", "signature": "s"}


def conversation(write, *lines):
    return read_transcript(write([line("user", "Go."), *lines])).messages[1:]


def test_the_lines_of_one_reply_are_one_message(write):
    messages = conversation(write, spoken(THINKING), spoken(call("a")), line("user", [result("a")]))
    assert messages == (
        {"role": "assistant", "content": [THINKING, call("a")]},
        {"role": "user", "content": [result("a")]},
    )


def test_results_between_the_lines_of_a_reply_come_after_it_together(write):
    messages = conversation(
        write,
        spoken(call("a")),
        line("user", [result("a")]),
        spoken(call("b")),
        line("user", [result("b")]),
        spoken({"type": "text", "text": "Done."}, "m2"),
    )
    assert messages == (
        {"role": "assistant", "content": [call("a"), call("b")]},
        {"role": "user", "content": [result("a"), result("b")]},
        {"role": "assistant", "content": [{"type": "text", "text": "Done."}]},
    )


def test_text_next_to_results_is_kept_after_them(write):
    text = {"type": "text", "text": "And be quick."}
    messages = conversation(
        write, spoken(call("a")), spoken(call("b")), line("user", [result("a"), text]), line("user", [result("b")])
    )
    assert messages[1] == {"role": "user", "content": [result("a"), result("b"), text]}


def test_results_come_right_after_their_calls_even_when_somebody_spoke_between(write):
    messages = conversation(
        write, spoken(call("a")), line("user", "A reminder.", isMeta=True), line("user", [result("a")])
    )
    assert [message["content"] for message in messages] == [[call("a")], [result("a")], "A reminder."]


def test_replies_that_share_an_id_but_no_request_are_two(write):
    messages = conversation(
        write,
        spoken(call("a"), requestId="r1"),
        line("user", [result("a")]),
        spoken(call("a"), requestId="r2"),
        line("user", [result("a", "y")]),
    )
    assert [len(message["content"]) for message in messages] == [1, 1, 1, 1]


def test_an_interrupted_call_is_left_open(write):
    messages = conversation(write, spoken(call("a")), line("user", "Stop."))
    assert [message["content"] for message in messages] == [[call("a")], "Stop."]


def test_side_conversations_and_what_was_never_sent_are_skipped(write):
    messages = conversation(
        write,
        spoken({"type": "text", "text": "aside"}, isSidechain=True),
        {"type": "summary", "summary": "s"},
        {"type": "progress", "isSidechain": False, "data": {}},
        {"type": "system", "subtype": "turn_duration"},
        {"type": "file-history-snapshot", "snapshot": {}},
        spoken({"type": "text", "text": "API Error: 529"}, "m9", isApiErrorMessage=True),
        line("user", "A summary.", isCompactSummary=True),
    )
    assert messages == ({"role": "user", "content": "A summary."},)


def test_a_line_that_was_written_twice_counts_once(write):
    twice = line("user", "Again.", uuid="u1")
    assert conversation(write, twice, spoken(THINKING), twice) == (
        {"role": "user", "content": "Again."},
        {"role": "assistant", "content": [THINKING]},
    )


def test_a_broken_message_inside_a_line_is_named(write):
    read = read_transcript(
        write([line("user", "Go."), line("assistant", [{"type": "tool_use"}]), {"type": "user", "message": 5}])
    )
    assert [(warning.line, warning.field) for warning in read.warnings] == [
        (2, "message.content[0].input"),
        (3, "message"),
    ]
    assert len(read.messages) == 1


# --- gptme ------------------------------------------------------------------------------------------------------------


def gptme(role, content, **more):
    return {"role": role, "content": content, "timestamp": "2026-01-02T03:04:05.678901", **more}


GPTME_CALL = 'Let me look.\n@shell(call-1): {"command": "echo }"}'


def gptme_conversation(write, *lines):
    read = read_transcript(write([gptme("system", "You are gptme."), gptme("user", "Go."), *lines]))
    assert (read.format, read.system, read.messages[0]) == (
        "openai",
        ("You are gptme.",),
        {"role": "user", "content": "Go."},
    )
    return read.messages[1:]


def test_output_in_gptme_is_what_the_users_side_says(write):
    reply = "```shell\nls\n```"
    assert gptme_conversation(write, gptme("assistant", reply), gptme("system", "a.py")) == (
        {"role": "assistant", "content": reply},
        {"role": "user", "content": "a.py"},
    )


def test_a_call_of_gptme_whose_id_a_result_names_is_a_call(write):
    messages = gptme_conversation(write, gptme("assistant", GPTME_CALL), gptme("system", "}", call_id="call-1"))
    function = {"name": "shell", "arguments": '{"command": "echo }"}'}
    assert messages == (
        {
            "role": "assistant",
            "content": "Let me look.",
            "tool_calls": [{"id": "call-1", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": "call-1", "content": "}"},
    )


def test_results_of_gptme_come_right_after_their_calls_and_parts_of_one_are_one(write):
    messages = gptme_conversation(
        write,
        gptme("assistant", GPTME_CALL + '\n@read(call-2): {"path": "a"}'),
        gptme("system", "one", call_id="call-2"),
        gptme("user", "Wait."),
        gptme("system", "two", call_id="call-1"),
        gptme("system", "three", call_id="call-2"),
    )
    assert [(message["role"], message["content"]) for message in messages] == [
        ("assistant", "Let me look."),
        ("tool", "two"),
        ("tool", "one\n\nthree"),
        ("user", "Wait."),
    ]


def test_a_call_of_gptme_without_a_result_stays_text_and_so_does_a_result_without_a_call(write):
    messages = gptme_conversation(
        write,
        gptme("assistant", GPTME_CALL),
        gptme("assistant", "@shell(call-3): {broken"),
        gptme("system", "late", call_id="call-1"),
        gptme("system", "odd", call_id="call-3"),
    )
    assert messages == (
        {"role": "assistant", "content": GPTME_CALL},
        {"role": "assistant", "content": "@shell(call-3): {broken"},
        {"role": "user", "content": "late"},
        {"role": "user", "content": "odd"},
    )


def test_what_gptme_only_shows_is_left_out_and_hidden_messages_were_sent(write):
    messages = gptme_conversation(
        write, gptme("system", "Saving.", ui_only=True), gptme("system", "Rules.", hide=True, pinned=True)
    )
    assert messages == ({"role": "user", "content": "Rules."},)


def test_files_that_gptme_attached_are_named_as_missing(write):
    read = read_transcript(write([gptme("user", "Look.", files=["a.png", "b.png"])]))
    assert read.messages == ({"role": "user", "content": "Look."},)
    (warning,) = read.warnings
    assert (warning.line, warning.field, "2 attached" in warning.text) == (1, "files", True)


def test_openai_messages_with_times_and_calls_are_not_taken_for_gptme(write):
    timed = {"timestamp": "2026-01-02T03:04:05"}
    lines = [
        {**USER, **timed},
        {"role": "assistant", "content": None, "tool_calls": [CALL], **timed},
        {"role": "tool", "tool_call_id": "c1", "content": "x", **timed},
        {"role": "system", "content": "Be brief.", **timed},
    ]
    assert read_transcript(write(lines)).messages == tuple(lines)


def test_a_broken_line_of_gptme_is_named_and_the_others_are_read(write):
    read = read_transcript(write([gptme("user", "Go."), gptme("robot", "Hm."), "{oops", gptme("assistant", "Ok.")]))
    assert [message["content"] for message in read.messages] == ["Go.", "Ok."]
    assert [(warning.line, warning.field) for warning in read.warnings] == [(3, ""), (2, "role")]


# --- what is wrong --------------------------------------------------------------------------------------------------


def test_a_malformed_line_is_named_and_the_others_are_read(write):
    path = write([USER, "{oops", {"role": "robot"}, 5, REPLY, {"role": "tool", "content": "x"}])
    read = read_transcript(path)
    assert read.messages == (USER, REPLY)
    assert [(warning.line, warning.field, warning.expected) for warning in read.warnings] == [
        (2, "", "a JSON object"),
        (3, "role", "one of ['assistant', 'developer', 'system', 'tool', 'user']"),
        (4, "message", "an object"),
        (6, "tool_call_id", "a non-empty string"),
    ]
    assert str(read.warnings[3]) == f"{path}:6: tool_call_id: missing, expected a non-empty string"


def test_a_malformed_message_of_a_document_is_named_by_its_path(write):
    path = write({"messages": [USER, {"role": "user", "content": [{"type": "text"}]}, 5]}, "s.json")
    first, second = read_transcript(path).warnings
    assert (first.line, first.field, first.expected) == (0, "messages[1].content[0].text", "a string")
    assert str(first) == f"{path}: messages[1].content[0].text: missing, expected a string"
    assert str(second) == f"{path}: messages[2]: 5, expected an object"


def test_glued_lines_are_separated(write):
    read = read_transcript(write([json.dumps(USER) + " " + json.dumps(REPLY), json.dumps(USER) + "}"]))
    assert read.messages == (USER, REPLY, USER)
    assert [warning.line for warning in read.warnings] == [1, 2, 2]


def test_bytes_that_are_not_text_are_replaced_with_a_warning(tmp_path):
    path = tmp_path / "session.jsonl"
    path.write_bytes(json.dumps(USER).encode() + b'\n{"role": "user", "content": "caf\xe9"}')
    read = read_transcript(path)
    assert read.messages[1]["content"] == "caf\ufffd"
    assert [(warning.line, warning.expected) for warning in read.warnings] == [(2, "UTF-8")]


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ("", "empty.jsonl"),
        ("\n\n", "blank.jsonl"),
        ("just a text", "notes.txt"),
        ("[]", "list.json"),
        ('{"messages": []}', "none.json"),
        ('{"messages": 5}', "five.json"),
        ('{"messages": [\n {"role": "user",\n', "cut.json"),
        ("5", "number.json"),
        ("null", "null.json"),
        ("[" * 100_000, "deep.json"),
        ('{"type": "summary", "message": {}}', "claude.jsonl"),
    ],
)
def test_a_file_without_a_message_is_refused_by_name(write, content, name):
    with pytest.raises(TranscriptError, match=name):
        read_transcript(write(content, name))


def test_a_cut_document_is_refused_with_the_line_at_which_it_ends(write):
    with pytest.raises(TranscriptError, match=r"cut\.json:3: no JSON document"):
        read_transcript(write('{"messages": [\n {"role": "user",\n', "cut.json"))


def test_a_missing_file_is_refused_by_name(tmp_path):
    with pytest.raises(TranscriptError, match=r"nowhere\.jsonl"):
        read_transcript(tmp_path / "nowhere.jsonl")
    with pytest.raises(TranscriptError, match="directory"):
        read_transcript(tmp_path)


@pytest.mark.parametrize("odd", [5, "x", {"a": 1}, [5], None])
def test_an_odd_system_or_odd_tools_do_no_harm(write, odd):
    read = read_transcript(write({"messages": [USER], "system": odd, "tools": odd}))
    assert read.messages == (USER,)
    assert read.tools == ()


def test_what_was_read_can_be_read_by_its_format(write):
    read = read_transcript(write([USER, {"role": "assistant", "content": None, "tool_calls": [CALL]}]))
    assert format_named(read.format).read(read.messages[1])[0].name == "read"


# --- gc-core's own log ----------------------------------------------------------------------------------------------

SAID = {
    "openai": (USER, REPLY),
    "anthropic": (USER, REPLY),
    "gemini": ({"role": "user", "parts": [{"text": "Fix it."}]}, {"role": "model", "parts": [{"text": "Done."}]}),
    "responses": (
        {"role": "user", "content": "Fix it."},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]},
    ),
}


@pytest.mark.parametrize("name", SAID)
def test_a_log_of_gc_cores_own_is_read_as_what_was_said(name, tmp_path):
    asked, reply = SAID[name]
    with GCSession(GCConfig(), format=name, directory=tmp_path) as session:
        session.system(base="Old.", gone="Gone.")
        session.system(base="You mend things.", gone="")
        session.append(asked)
        session.enrich(git="branch main")
        session.pre_send()
        session.post_turn(reply)
    found = read_transcript(tmp_path / "master.jsonl")
    form = format_named(name)
    said = [part.text for message in found.messages for part in form.read(message)]
    assert said == [part.text for message in (asked, reply) for part in form.read(message)]
    assert (found.format, found.system, found.warnings) == (name, ("You mend things.",), ())
    assert len(list(filter(None, found.times))) == len(found.messages)


def test_schemas_of_a_log_are_read_and_a_damaged_line_is_named(tmp_path):
    with GCSession(GCConfig(), format="anthropic", directory=tmp_path) as session:
        session.tools([SCHEMA])
        session.append(USER)
    log = tmp_path / "master.jsonl"
    log.write_bytes(log.read_bytes() + b'[1]\n{"at":1,"items":["i')
    found = read_transcript(log)
    assert (found.tools, found.messages) == ((SCHEMA,), (USER,))
    assert ["expected an object" in warning.text for warning in found.warnings] == [False, True]
