"""Keeps the context window of LangChain agents and deepagents within limits: ``middleware=[GCMiddleware()]``."""

from gc_core.integrations.lanes import needs

with needs("langchain>=1.4.7", distribution="gc-langchain"):
    from gc_langchain.middleware import GCMiddleware
    from gc_langchain.trimming import collect_messages

__all__ = ["GCMiddleware", "collect_messages"]
