"""What the callback keeps of calls that are over, and what it does where it can keep nothing."""

import asyncio

import litellm
from gc_litellm import GCCallback

from gc_core.testing import LoopbackProvider
from gc_core.testing.adapters import DONE


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


def test_on_a_full_disk_requests_go_out_as_they_came(monkeypatch):
    def write(_handle, _data, _place):
        raise OSError(28, "No space left on device")

    callback = GCCallback()
    monkeypatch.setattr(litellm, "callbacks", [callback])
    monkeypatch.setattr("gc_core.storage.file_handle.write_at", write)
    with LoopbackProvider(calls=0) as provider:
        reply = asyncio.run(asked(provider.url, 1))
    assert reply.choices[0].message.content == DONE
