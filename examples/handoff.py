"""
Parallel sub-tasks that share one window: each has a child session of its own, and each result comes back as one note.

``researched`` runs as it is, with a model that is made up; put your client in the place of ``answered``.
"""

import asyncio

import gc_core as gc

TASKS = {"tests": "Which test fails, and why?", "docs": "What do the docs say of tokens?", "log": "When did it begin?"}


async def answered(request: gc.Request) -> dict[str, str]:
    """What a model would say: its findings on the last thing that it was asked."""
    await asyncio.sleep(0)
    asked = request.messages[-1]["content"]
    return {"role": "assistant", "content": f"I looked into {asked!r}.\nFound: src/auth.py, line 42."}


async def sub_task(parent: gc.AsyncGCSession, name: str, task: str) -> None:
    """One child from beginning to end; leaving the block frees its room, whatever has happened."""
    async with await parent.handoff(name=name, steps=2, summary_tokens=400, result_tokens=300) as child:
        child.append({"role": "user", "content": task})
        reply = await answered(await child.pre_send())
        await child.post_turn(reply)
        child.hand_back(reply)


async def researched(question: str) -> gc.Request:
    """The parent's request once all sub-tasks have come back, in whatever order."""
    async with gc.AsyncGCSession(gc.GCConfig(context_limit=16_000)) as agent:
        agent.system(rules="Never guess.")
        agent.append({"role": "user", "content": question})
        await agent.pre_send()
        await agent.post_turn({"role": "assistant", "content": "I look at tests, docs and log at the same time."})
        await asyncio.gather(*(sub_task(agent, name, task) for name, task in TASKS.items()))
        return await agent.pre_send()


if __name__ == "__main__":
    for message in asyncio.run(researched("Why does the login fail?")).messages:
        print(f"{message['role']}: {message['content']}")
