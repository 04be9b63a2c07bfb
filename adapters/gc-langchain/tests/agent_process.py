"""An agent in a process of its own: runs a prompt on a thread that a checkpointer keeps, and ends."""

import contextlib
import sys

from gc_langchain import GCMiddleware
from langchain.agents import create_agent
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver

from gc_core import GCConfig
from gc_core.testing.adapters import file_of


def bash(command: str) -> str:
    """Run a command."""
    return file_of(command)


@contextlib.contextmanager
def saver(kind, where):
    if kind == "sqlite":
        with SqliteSaver.from_conn_string(where) as made:
            yield made
    else:
        with PostgresSaver.from_conn_string(where) as made:
            made.setup()
            yield made


def main(url, kind, where, directory, prompt):
    model = ChatOpenAI(model="gpt-5", base_url=f"{url}/v1", api_key="key-1", max_retries=0)
    config = GCConfig(strategy="gc_budget", context_limit=9_000, output_reservation=450)
    with saver(kind, where) as checkpointer:
        agent = create_agent(
            model, [bash], middleware=[GCMiddleware(config, directory=directory)], checkpointer=checkpointer
        )
        settings = {"configurable": {"thread_id": "one"}, "recursion_limit": 300}
        state = agent.invoke({"messages": [("user", prompt)]}, settings)
    print(len(state["messages"]), state["messages"][-1].text)  # noqa: T201 - read by the test


main(*sys.argv[1:])
