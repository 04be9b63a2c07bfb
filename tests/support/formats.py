"""One conversation in every format: a user's request, a call with its result, and an answer."""

import json

FORMATS = ("openai", "anthropic", "responses", "gemini")


def asked(form, text):
    """A user message."""
    if form == "gemini":
        return {"role": "user", "parts": [{"text": text}]}
    return {"role": "user", "content": text}


def called(form, key, name, arguments):
    """A reply that calls a tool, as the provider's client returns it."""
    written = json.dumps(arguments)
    if form == "openai":
        function = {"name": name, "arguments": written}
        return {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": key, "type": "function", "function": function}],
        }
    if form == "anthropic":
        thinking = {"type": "thinking", "thinking": f"I look at {key}.", "signature": "c2VhbA=="}
        return {
            "role": "assistant",
            "content": [thinking, {"type": "tool_use", "id": key, "name": name, "input": arguments}],
        }
    if form == "responses":
        thinking = {"type": "reasoning", "id": f"rs_{key}", "summary": [], "encrypted_content": "c2VhbA=="}
        call = {"type": "function_call", "id": f"fc_{key}", "call_id": key, "name": name, "arguments": written}
        return {"role": "assistant", "output": [thinking, call]}
    return {"role": "model", "parts": [{"functionCall": {"id": key, "name": name, "args": arguments}}]}


def came(form, key, name, text):
    """A tool's result."""
    if form == "openai":
        return {"role": "tool", "tool_call_id": key, "content": text}
    if form == "anthropic":
        return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": key, "content": text}]}
    if form == "responses":
        return {"type": "function_call_output", "call_id": key, "output": text}
    answer = {"functionResponse": {"id": key, "name": name, "response": {"output": text}}}
    return {"role": "user", "parts": [answer]}


def said(form, key, text):
    """A reply with only a text."""
    if form == "gemini":
        return {"role": "model", "parts": [{"text": text}]}
    if form == "responses":
        content = [{"type": "output_text", "text": text, "annotations": []}]
        message = {
            "type": "message",
            "id": f"msg_{key}",
            "role": "assistant",
            "status": "completed",
            "content": content,
        }
        return {"role": "assistant", "output": [message]}
    return {"role": "assistant", "content": text}


def schema_of(form, name):
    """A tool's schema."""
    shape = {"type": "object", "properties": {"path": {"type": "string"}}}
    schema = {"name": name, "description": f"To {name}."}
    if form == "openai":
        return {"type": "function", "function": {**schema, "parameters": shape}}
    if form == "anthropic":
        return {**schema, "input_schema": shape}
    if form == "responses":
        return {"type": "function", **schema, "parameters": shape}
    return {**schema, "parameters": shape}
