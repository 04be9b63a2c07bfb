"""The loopback provider is one to the official clients: they talk to it, and it refuses what providers refuse."""

import threading

import anthropic
import openai
import pytest

from tests.support.provider import ProviderServer, count_request

ASK = {"role": "user", "content": "Why does the login test fail?"}
OPENAI_CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "read", "arguments": '{"path": "a.py"}'}}],
}
OPENAI_RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "x = 1"}
ANTHROPIC_CALL = {
    "role": "assistant",
    "content": [
        {"type": "thinking", "thinking": "It may be the path.", "signature": "c2VhbA=="},
        {"type": "text", "text": "I read the file."},
        {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "a.py"}},
    ],
}
ANTHROPIC_RESULT = {
    "role": "user",
    "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "x = 1"}],
}


def ask_openai(server, messages, **options):
    with openai.OpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0, timeout=10) as client:
        return client.chat.completions.create(model="gpt-5", messages=messages, **options)


def ask_anthropic(server, messages, **options):
    with anthropic.Anthropic(base_url=server.url, api_key="none", max_retries=0, timeout=10) as client:
        return client.messages.create(model="claude-opus-5", max_tokens=100, messages=messages, **options)


def text_of(content):
    return [{"type": "text", "text": content}]


def test_the_openai_client_reads_a_reply_with_calls_and_usage():
    with ProviderServer([OPENAI_CALL]) as server:
        answer = ask_openai(server, [ASK])
    call = answer.choices[0].message.tool_calls[0]
    assert (call.id, call.function.name, call.function.arguments) == ("call_1", "read", '{"path": "a.py"}')
    assert answer.choices[0].finish_reason == "tool_calls"
    assert answer.usage.prompt_tokens == count_request({"messages": [ASK]})
    assert server.refusals == []
    assert server.requests[0]["messages"] == [ASK]


def test_the_anthropic_client_reads_a_reply_with_thinking_calls_and_usage():
    with ProviderServer([ANTHROPIC_CALL]) as server:
        answer = ask_anthropic(server, [ASK])
    assert [block.type for block in answer.content] == ["thinking", "text", "tool_use"]
    assert answer.content[2].input == {"path": "a.py"}
    assert answer.stop_reason == "tool_use"
    assert sent(answer.usage) == count_request({"messages": [ASK]})


def sent(usage):
    return usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens


MARK = {"type": "ephemeral"}
HOUR = {"type": "ephemeral", "ttl": "1h"}
LONG = "word " * 700
DONE = {"role": "assistant", "content": "Done."}


def marked(text, mark=MARK):
    return [{"type": "text", "text": text, "cache_control": mark}]


def many(number):
    """A reply with so many calls and the message with their results, the last one marked."""
    calls = [{"type": "tool_use", "id": f"toolu_{at}", "name": "read", "input": {}} for at in range(number)]
    answers = [{"type": "tool_result", "tool_use_id": call["id"], "content": "x = 1"} for call in calls]
    answers[-1]["cache_control"] = MARK
    return {"role": "assistant", "content": calls}, {"role": "user", "content": answers}


def test_anthropic_reads_from_the_cache_what_an_earlier_request_wrote_at_its_mark():
    second = [{"role": "user", "content": LONG}, DONE, {"role": "user", "content": marked("Go on.")}]
    with ProviderServer([DONE] * 3) as server:
        first = ask_anthropic(server, [{"role": "user", "content": marked(LONG)}], system="You fix bugs.").usage
        later = ask_anthropic(server, second, system="You fix bugs.").usage
        other = ask_anthropic(server, second, system="You break bugs.").usage
    assert (first.cache_read_input_tokens, first.input_tokens) == (0, 3)
    assert later.cache_read_input_tokens == first.cache_creation_input_tokens > 700
    assert later.cache_creation_input_tokens > 0
    assert sent(later) == count_request({"system": "You fix bugs.", "messages": second})
    assert other.cache_read_input_tokens == 0


def test_anthropic_writes_nothing_without_a_mark_and_below_the_minimum():
    long, short = {"role": "user", "content": LONG}, {"role": "user", "content": marked("word " * 300)}
    with ProviderServer([DONE] * 4) as server:
        asked = [ask_anthropic(server, [message]).usage for message in (long, long, short, short)]
    assert {(usage.cache_read_input_tokens, usage.cache_creation_input_tokens) for usage in asked} == {(0, 0)}


@pytest.mark.parametrize(("number", "reads"), [(9, True), (10, False)])
def test_anthropic_looks_back_over_twenty_blocks(number, reads):
    opening = {"role": "user", "content": LONG}
    with ProviderServer([DONE] * 2) as server:
        ask_anthropic(server, [{"role": "user", "content": marked(LONG)}])
        later = ask_anthropic(server, [opening, *many(number)]).usage
    assert (later.cache_read_input_tokens > 0) == reads


@pytest.mark.parametrize(("mark", "life"), [(MARK, 300), (HOUR, 3_600)])
def test_anthropic_keeps_an_entry_for_its_life_after_its_last_use(mark, life):
    asked = [{"role": "user", "content": marked(LONG, mark)}]
    read = []
    with ProviderServer([DONE] * 4) as server:
        for wait in (0, life - 1, life - 1, life + 1):
            server.now += wait
            read.append(ask_anthropic(server, asked).usage.cache_read_input_tokens > 0)
    assert read == [False, True, True, False]


def test_anthropic_reports_one_hour_writes_separately():
    with ProviderServer([DONE]) as server:
        usage = ask_anthropic(server, [{"role": "user", "content": marked(LONG)}], system=marked(LONG, HOUR)).usage
    assert usage.cache_creation.ephemeral_1h_input_tokens == 701
    assert usage.cache_creation.ephemeral_5m_input_tokens == usage.cache_creation_input_tokens - 701


def test_a_change_of_tools_loses_everything_and_one_of_the_system_text_keeps_the_tools():
    tool = {"name": "read", "description": LONG, "input_schema": {"type": "object"}, "cache_control": MARK}
    asked = [{"role": "user", "content": marked(LONG)}]
    with ProviderServer([DONE] * 3) as server:
        ask_anthropic(server, asked, tools=[tool], system=marked(LONG))
        system = ask_anthropic(server, asked, tools=[tool], system=marked("Others. " + LONG)).usage
        tools = ask_anthropic(server, asked, tools=[{**tool, "name": "grep"}], system=marked(LONG)).usage
    assert 700 < system.cache_read_input_tokens < 800
    assert tools.cache_read_input_tokens == 0


def test_two_clients_of_one_server_share_its_cache_and_two_models_do_not():
    asked = [{"role": "user", "content": marked(LONG)}]
    with ProviderServer([DONE] * 3) as server:
        ask_anthropic(server, asked)
        assert ask_anthropic(server, asked).usage.cache_read_input_tokens > 0
        with anthropic.Anthropic(base_url=server.url, api_key="none", max_retries=0, timeout=10) as client:
            other = client.messages.create(model="claude-sonnet-5", max_tokens=100, messages=asked)
    assert other.usage.cache_read_input_tokens == 0


@pytest.mark.parametrize(
    ("system", "content", "wording"),
    [
        ("a", [marked(str(at))[0] for at in range(5)], "A maximum of 4 blocks with cache_control"),
        (marked("a"), marked("b", HOUR), "a ttl='1h' cache_control block must not come after a ttl='5m'"),
    ],
)
def test_anthropic_refuses_marks_that_it_does_not_take(system, content, wording):
    with ProviderServer() as server, pytest.raises(anthropic.BadRequestError) as refused:
        ask_anthropic(server, [{"role": "user", "content": content}], system=system)
    assert wording in refused.value.message


BINDING = "claude-opus-5-5"


def test_thinking_is_bound_to_the_content_before_it():
    with (
        ProviderServer([ANTHROPIC_CALL, DONE, DONE]) as server,
        anthropic.Anthropic(base_url=server.url, api_key="none", max_retries=0, timeout=10) as client,
    ):

        def ask(*messages):
            return client.messages.create(model=BINDING, max_tokens=100, messages=messages)

        reply = {"role": "assistant", "content": ask(ASK).to_dict()["content"]}
        ask({"role": "user", "content": marked(ASK["content"])}, reply, ANTHROPIC_RESULT)  # a mark changes nothing
        with pytest.raises(anthropic.BadRequestError, match="The block is bound to a different conversation"):
            ask({"role": "user", "content": "Why?"}, reply, ANTHROPIC_RESULT)
        with pytest.raises(anthropic.BadRequestError, match="Invalid `signature` in `thinking` block"):
            ask(ASK, ANTHROPIC_CALL, ANTHROPIC_RESULT)
        assert len(server.refusals) == 2


@pytest.mark.parametrize(("model", "binds"), [("claude-opus-5", None), (BINDING, False)])
def test_thinking_that_is_not_bound_may_follow_something_else(model, binds):
    with (
        ProviderServer([DONE], binds_thinking=binds) as server,
        anthropic.Anthropic(base_url=server.url, api_key="none", max_retries=0, timeout=10) as client,
    ):
        client.messages.create(model=model, max_tokens=100, messages=[ASK, ANTHROPIC_CALL, ANTHROPIC_RESULT])
    assert server.refusals == []


def test_openai_caches_without_being_asked_from_1024_tokens_on():
    short, long = {"role": "user", "content": "word " * 900}, {"role": "user", "content": "word " * 1_100}
    with ProviderServer([DONE] * 5) as server:
        for message in (short, long):
            ask_openai(server, [message])
        cached = [ask_openai(server, [message]).usage.prompt_tokens_details.cached_tokens for message in (short, long)]
        server.now += 301
        late = ask_openai(server, [long]).usage.prompt_tokens_details.cached_tokens
    assert (cached, late) == ([0, 1_024], 0)


def test_openai_takes_breakpoints_only_of_models_that_have_them():
    content = [{"type": "text", "text": "Hm.", "prompt_cache_breakpoint": {"mode": "explicit"}}]
    with ProviderServer([DONE]) as server:
        with pytest.raises(openai.BadRequestError, match="Unknown parameter"):
            ask_openai(server, [{"role": "user", "content": content}])
        with openai.OpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0, timeout=10) as client:
            client.chat.completions.create(model="gpt-6-sol", messages=[{"role": "user", "content": content}])


def test_openai_reads_from_the_cache_in_blocks_of_128_tokens():
    long = {"role": "user", "content": "word " * 2_000}
    done = {"role": "assistant", "content": "Done."}
    with ProviderServer([OPENAI_CALL, done]) as server:
        ask_openai(server, [long])
        later = ask_openai(server, [long, OPENAI_CALL, OPENAI_RESULT])
    cached = later.usage.prompt_tokens_details.cached_tokens
    assert 1_900 < cached < 2_100
    assert cached % 128 == 0


@pytest.mark.parametrize(
    ("messages", "wording"),
    [
        ([ASK, OPENAI_RESULT], "must be a response to a preceeding message with 'tool_calls'"),
        ([ASK, OPENAI_CALL], "did not have response messages: call_1"),
        ([ASK, OPENAI_CALL, ASK, OPENAI_RESULT], "did not have response messages: call_1"),
        ([ASK, OPENAI_CALL, OPENAI_RESULT, OPENAI_RESULT], "Duplicate value for 'tool_call_id' of 'call_1'"),
        ([{"role": "user", "content": ""}], "empty string"),
        ([ASK, {"role": "assistant", "content": None}], "expected a string, got null"),
        ([ASK, {**OPENAI_CALL, "tool_calls": []}], "empty array"),
        ([{"role": "user", "content": "word " * 300}], "maximum context length is 250 tokens"),
    ],
)
def test_openai_refusals_reach_the_client(messages, wording):
    with ProviderServer(limit=250) as server, pytest.raises(openai.BadRequestError) as refused:
        ask_openai(server, messages)
    assert wording in refused.value.message
    assert len(server.refusals) == 1


def test_openai_names_the_code_of_a_request_that_is_too_long():
    with ProviderServer(limit=50) as server, pytest.raises(openai.BadRequestError) as refused:
        ask_openai(server, [{"role": "user", "content": "word " * 100}])
    assert refused.value.code == "context_length_exceeded"


@pytest.mark.parametrize(
    ("messages", "wording"),
    [
        ([ASK, ANTHROPIC_RESULT], "unexpected `tool_use_id` found in `tool_result` blocks: toolu_1"),
        ([ASK, ANTHROPIC_CALL, ASK], "without `tool_result` blocks immediately after: toolu_1"),
        (
            [ASK, ANTHROPIC_CALL, {"role": "user", "content": [*text_of("Wait."), *ANTHROPIC_RESULT["content"]]}],
            "without `tool_result` blocks immediately after: toolu_1",
        ),
        (
            [ASK, ANTHROPIC_CALL, ANTHROPIC_RESULT, ANTHROPIC_CALL, ANTHROPIC_RESULT],
            "`tool_use` ids must be unique",
        ),
        ([{"role": "assistant", "content": "Hello."}, ASK], 'first message must use the "user" role'),
        ([{"role": "user", "content": text_of("")}], "text content blocks must be non-empty"),
        ([{"role": "user", "content": "\n"}], "text content blocks must contain non-whitespace text"),
        ([{"role": "user", "content": []}], "user messages must have non-empty content"),
        ([ASK, {"role": "system", "content": "Hm."}, ASK], "`system` messages must directly follow"),
        ([{"role": "user", "content": "word " * 300}], "tokens > 250 maximum"),
    ],
)
def test_anthropic_refusals_reach_the_client(messages, wording):
    with ProviderServer(limit=250) as server, pytest.raises(anthropic.BadRequestError) as refused:
        ask_anthropic(server, messages)
    assert wording in refused.value.message
    assert wording in server.refusals[0]


def test_a_tool_loop_with_thinking_enabled_keeps_its_first_thinking():
    bare = {"role": "assistant", "content": ANTHROPIC_CALL["content"][1:]}
    thinking = {"type": "enabled", "budget_tokens": 1024}
    with ProviderServer() as server, pytest.raises(anthropic.BadRequestError, match="Expected `thinking`"):
        ask_anthropic(server, [ASK, bare, ANTHROPIC_RESULT], thinking=thinking)


def test_a_model_without_prefill_refuses_an_assistant_message_at_the_end():
    messages = [ASK, {"role": "assistant", "content": "It is"}]
    with ProviderServer(prefill=False) as server, pytest.raises(anthropic.BadRequestError, match="prefill"):
        ask_anthropic(server, messages)


def test_the_openai_client_streams_a_reply_with_its_usage():
    reply = {**OPENAI_CALL, "content": "I read the file before I answer."}
    with (
        ProviderServer([reply]) as server,
        openai.OpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0, timeout=10) as client,
        client.chat.completions.stream(model="gpt-5", messages=[ASK], stream_options={"include_usage": True}) as stream,
    ):
        answer = stream.get_final_completion()
    assert answer.choices[0].message.content == reply["content"]
    assert answer.choices[0].message.tool_calls[0].function.arguments == '{"path": "a.py"}'
    assert answer.usage.prompt_tokens == count_request({"messages": [ASK]})


def test_the_anthropic_client_streams_a_reply_with_its_usage():
    with (
        ProviderServer([ANTHROPIC_CALL]) as server,
        anthropic.Anthropic(base_url=server.url, api_key="none", max_retries=0, timeout=10) as client,
        client.messages.stream(model="claude-opus-5", max_tokens=100, messages=[ASK]) as stream,
    ):
        answer = stream.get_final_message()
    assert [block.to_dict(exclude_unset=True) for block in answer.content] == ANTHROPIC_CALL["content"]
    assert sent(answer.usage) == count_request({"messages": [ASK]})


def test_a_script_that_has_run_out_is_an_error_of_the_server():
    with ProviderServer() as server, pytest.raises(openai.InternalServerError, match="no more replies"):
        ask_openai(server, [ASK])


def test_the_server_leaves_no_thread_behind():
    before = threading.active_count()
    with ProviderServer([OPENAI_CALL]) as server:
        ask_openai(server, [ASK])
    assert threading.active_count() == before
