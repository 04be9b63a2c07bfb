"""LiteLLM's proxy with the callback in its configuration, as the README has it: every API, streamed and not."""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
from gc_gateway.serving import running
from gc_gateway.settings import Settings

from gc_core.testing import LoopbackProvider
from gc_core.testing.adapters import DONE, file_of

README = Path(__file__).parents[1] / "README.md"
KEY = "sk-0123456789abcdef0123456789abcdef"
GC = '[gc]\nstrategy = "gc_budget"\ncontext_limit = 9000\noutput_reservation = 450\n'
MODELS = """
model_list:
  - model_name: chat
    litellm_params: {{model: openai/gpt-5-mini, api_base: {url}/v1, api_key: key-1}}
  - model_name: claude
    litellm_params: {{model: anthropic/claude-sonnet-4-5, api_base: {url}, api_key: key-1}}
"""


@pytest.fixture(scope="module")
def provider():
    with LoopbackProvider(limit=9_000, calls=0) as made:
        yield made


@pytest.fixture(scope="module")
def gateway(tmp_path_factory):
    settings = Settings(port=0, directory=tmp_path_factory.mktemp("lanes"))
    with running(settings) as (url, _):
        yield url


CALLBACK, GUARDRAIL = (part.partition("```")[0] for part in README.read_text().split("```yaml\n")[1:])


@pytest.fixture(scope="module", params=["callback", "guardrail"])
def proxy(provider, request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("proxy")
    settings = CALLBACK
    if request.param == "guardrail":
        settings = GUARDRAIL.replace("http://127.0.0.1:8787", request.getfixturevalue("gateway"))
    (folder / "config.yaml").write_text(MODELS.format(url=provider.url) + settings)
    (folder / "gc.toml").write_text(GC)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environ = {**os.environ, "LITELLM_MASTER_KEY": KEY, "GC_LITELLM_CONFIG": str(folder / "gc.toml"), "NO_DOCS": "True"}
    command = [Path(sys.executable).with_name("litellm"), "--config", folder / "config.yaml", "--port", str(port)]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen([*command, "--host", "127.0.0.1"], env=environ, stdout=log, stderr=log, cwd=folder)  # noqa: S603
        try:
            wait_for(f"http://127.0.0.1:{port}/health/liveliness", process, folder / "log")
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(20)


def wait_for(url, process, log):
    for _ in range(600):
        assert process.poll() is None, log.read_text()[-2000:]
        try:
            if httpx.get(url).status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.2)
    raise AssertionError(log.read_text()[-2000:])


def chat_history(steps):
    messages = [{"role": "user", "content": "Read all files."}]
    for number in range(steps):
        function = {"name": "bash", "arguments": json.dumps({"command": "cat"})}
        messages.append(
            {"role": "assistant", "tool_calls": [{"id": f"call_{number}", "type": "function", "function": function}]}
        )
        messages.append({"role": "tool", "tool_call_id": f"call_{number}", "content": file_of(str(number))})
    return messages


def messages_history(steps):
    messages = [{"role": "user", "content": "Read all files."}]
    for number in range(steps):
        call = {"type": "tool_use", "id": f"call_{number}", "name": "bash", "input": {"command": "cat"}}
        result = {"type": "tool_result", "tool_use_id": f"call_{number}", "content": file_of(str(number))}
        messages += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    return messages


BODIES = {
    "/v1/chat/completions": {"model": "chat", "messages": chat_history(16)},
    "/v1/messages": {"model": "claude", "max_tokens": 100, "messages": messages_history(16)},
}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("path", BODIES)
def test_a_request_that_is_too_long_is_answered(proxy, provider, path, stream):
    before = len(provider.generations)
    headers = {"authorization": f"Bearer {KEY}"}
    answer = httpx.post(f"{proxy}{path}", json={**BODIES[path], "stream": stream}, headers=headers, timeout=60)
    assert answer.status_code == 200, answer.text
    assert DONE in answer.text
    sent = provider.generations[before:]
    assert [seen.status for seen in sent] == [200]
    assert sent[0].tokens < 9_000 < len(json.dumps(BODIES[path])) // 4
