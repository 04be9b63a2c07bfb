"""What the callback keeps of calls that are over."""

import asyncio

import litellm
from gc_litellm import GCCallback

from gc_core.testing import LoopbackProvider


async def asked(url, number):
    said = [{"role": "user", "content": f"Question {number}"}]
    return await litellm.acompletion(model="openai/gpt-5-mini", messages=said, api_base=f"{url}/v1", api_key="key-1")


def test_nothing_of_a_call_is_kept_once_its_usage_came(monkeypatch):
    callback = GCCallback()
    monkeypatch.setattr(litellm, "callbacks", [callback])

    async def conversations(url):
        for number in range(5):
            await asked(url, number)

    with LoopbackProvider(calls=0) as provider:
        asyncio.run(conversations(provider.url))
        assert len(provider.generations) == 5
    assert not callback._calls
    assert not callback._newest
    callback.close()
