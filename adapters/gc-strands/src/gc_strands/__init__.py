"""Keeps the context window of Strands agents within limits: ``Agent(conversation_manager=GCConversationManager())``."""

from gc_core.integrations.lanes import needs

with needs("strands-agents>=1.62", distribution="gc-strands"):
    from gc_strands.manager import GCConversationManager

__all__ = ["GCConversationManager"]
