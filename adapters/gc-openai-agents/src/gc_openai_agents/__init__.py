"""Keeps the window of agents of the OpenAI Agents SDK within limits: ``RunConfig(model_provider=GCProvider())``."""

from gc_core.integrations.lanes import needs

with needs("openai-agents>=0.24", distribution="gc-openai-agents"):
    from gc_openai_agents.models import GCModel, GCProvider
    from gc_openai_agents.sessions import LaneSession, conversation

__all__ = ["GCModel", "GCProvider", "LaneSession", "conversation"]
