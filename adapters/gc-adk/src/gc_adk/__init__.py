"""Keeps the window of agents of Google's Agent Development Kit within limits: ``App(plugins=[GCPlugin()])``."""

from gc_core.integrations.lanes import needs

with needs("google-adk>=2", distribution="gc-adk"):
    from gc_adk.plugin import GCPlugin

__all__ = ["GCPlugin"]
