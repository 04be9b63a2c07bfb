"""The stand-in provider answers as the real ones do, where agents depend on it."""

import json

import anthropic
import openai
import pytest
from google import genai

from tests.support.standin import StandIn

ROUTE = {
    "type": "object",
    "properties": {
        "why": {"type": "string", "minLength": 3},
        "score": {"type": "integer", "minimum": 5},
        "choice": {"type": "string", "enum": ["small", "large"]},
        "parts": {"type": "array", "items": {"type": "boolean"}},
        "left": {"type": "null"},
        "extra": {"type": "string"},
    },
    "required": ["why", "score", "choice", "parts", "left"],
}


@pytest.fixture
def provider():
    with StandIn() as standin:
        yield standin


def by_messages(url):
    with anthropic.Anthropic(base_url=url, api_key="key-1", max_retries=0) as client:
        form = {"format": {"type": "json_schema", "schema": ROUTE}}
        held = [{"role": "user", "content": "Which one?"}]
        return client.messages.create(model="m", max_tokens=9, messages=held, output_config=form).content[0].text


def by_chat(url):
    with openai.OpenAI(base_url=f"{url}/v1", api_key="key-1", max_retries=0) as client:
        form = {"type": "json_schema", "json_schema": {"name": "route", "schema": ROUTE}}
        held = [{"role": "user", "content": "Which one?"}]
        answer = client.chat.completions.create(model="m", messages=held, response_format=form)
        return answer.choices[0].message.content


def by_responses(url):
    with openai.OpenAI(base_url=f"{url}/v1", api_key="key-1", max_retries=0) as client:
        form = {"format": {"type": "json_schema", "name": "route", "schema": ROUTE}}
        held = [{"role": "user", "content": "Which one?"}]
        return client.responses.create(model="m", input=held, text=form).output_text


def by_gemini(url):
    with genai.Client(api_key="key-1", http_options={"base_url": url}) as client:
        form = {"response_mime_type": "application/json", "response_json_schema": ROUTE}
        return client.models.generate_content(model="m", contents="Which one?", config=form).text


@pytest.mark.parametrize("ask", [by_messages, by_chat, by_responses, by_gemini])
def test_a_request_with_a_schema_is_answered_in_it_and_takes_no_part_of_the_script(provider, ask):
    answer = json.loads(ask(provider.url))
    assert answer == {"why": "All files were read.", "score": 5, "choice": "small", "parts": [], "left": None}
    assert provider.replies == 0
