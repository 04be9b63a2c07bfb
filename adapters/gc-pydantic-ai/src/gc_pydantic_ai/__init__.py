"""Keeps the context window of Pydantic AI agents within limits: ``Agent(..., capabilities=[GCCapability()])``."""

from gc_core.integrations.lanes import needs

with needs("pydantic-ai-slim>=2.68", distribution="gc-pydantic-ai"):
    from gc_pydantic_ai.capability import GCCapability

__all__ = ["GCCapability"]
