"""Keeps the window of agents of Microsoft's Agent Framework within limits: ``Agent(middleware=[GCMiddleware()])``."""

from gc_core.integrations.lanes import needs

with needs("agent-framework-core>=1.16", distribution="gc-agent-framework"):
    from gc_agent_framework.middleware import GCMiddleware

__all__ = ["GCMiddleware"]
