"""
A second opinion on Gemini's requests, independent of ``gc_core``: a walk over the plain JSON, as the service does it.

The words are those of the service, from public issue threads. Keys may be in camelCase or in snake_case.
"""

from __future__ import annotations

from typing import Any

JSON = dict[str, Any]

DATA = {
    "text": "text",
    "functionCall": "call",
    "function_call": "call",
    "functionResponse": "response",
    "function_response": "response",
}
NOT_DATA = {"thought", "thoughtSignature", "thought_signature", "videoMetadata", "video_metadata", "partMetadata"}


class GeminiServer:
    """POST /v1beta/models/{model}:generateContent, up to the point where the model would be asked."""

    def __init__(self) -> None:
        self.errors: list[str] = []
        self.called: list[JSON] = []

    def read(self, request: JSON) -> list[str]:
        contents = request.get("contents")
        if not contents:
            return ["* GenerateContentRequest.contents: contents is not specified"]
        if contents[0].get("role") != "user":
            self.errors.append("Please ensure that multiturn requests start with a user turn.")
        previous = ""
        for index, content in enumerate(contents):
            previous = self.read_content(index, content, previous)
        if self.called:
            self.say_counts()
        self.read_head(request)
        return self.errors

    def read_content(self, index: int, content: JSON, previous: str) -> str:
        """Check one content; what kind of turn it is."""
        parts = content.get("parts")
        where = f"* GenerateContentRequest.contents[{index}].parts"
        if content.get("role") not in ("user", "model"):
            self.errors.append("Please use a valid role: user, model.")
        if not parts:
            self.errors.append(f"{where}: contents.parts must not be empty.")
            return "empty"
        for position, part in enumerate(parts):
            self.read_part(f"{where}[{position}]", part)
        calls = [value for kind, value in map(data_of, parts) if kind == "call"]
        responses = [value for kind, value in map(data_of, parts) if kind == "response"]
        self.read_responses(content, parts, responses)
        if calls:
            self.read_calls(content, calls, previous)
            return "call"
        return "response" if responses else content.get("role", "")

    def read_part(self, path: str, part: JSON) -> None:
        kind, value = data_of(part)
        signed = part.get("thoughtSignature") or part.get("thought_signature")
        if kind == "none" and not signed:
            self.errors.append(f"{path}.data: required oneof field 'data' must have one initialized field")
        if kind == "text" and not value and not signed:
            self.errors.append("Unable to submit request because it has an empty text parameter.")
        if kind == "call":
            self.need_struct(f"{path}.function_call.args", value.get("args", {}))
        if kind == "response":
            self.need_struct(f"{path}.function_response.response", value.get("response", {}))
        if kind in ("call", "response") and not value.get("name"):
            self.errors.append(f"{path}.function_{kind}.name: Name cannot be empty.")

    def need_struct(self, path: str, value: Any) -> None:
        if not isinstance(value, dict):
            self.errors.append(f"Invalid value at '{path}' (type.googleapis.com/google.protobuf.Struct)")

    def read_calls(self, content: JSON, calls: list[JSON], previous: str) -> None:
        if content.get("role") != "model" or previous not in ("user", "response"):
            self.errors.append(
                "Please ensure that function call turn comes immediately after a user turn or after a function "
                "response turn."
            )
        self.called = calls

    def read_responses(self, content: JSON, parts: list[JSON], responses: list[JSON]) -> None:
        if responses and (not self.called or content.get("role") != "user"):
            self.errors.append(
                "Please ensure that function response turn comes immediately after a function call turn."
            )
        elif len(responses) != len(self.called) or (responses and len(parts) != len(responses)):
            self.say_counts()
        else:
            self.read_names(responses)
        self.called = []

    def read_names(self, responses: list[JSON]) -> None:
        called = sorted(str(call.get("name")) for call in self.called)
        if called != sorted(str(response.get("name")) for response in responses):
            self.errors.append("Please ensure that the function responses name the functions that were called.")
        ids = {call.get("id") for call in self.called}
        if None not in ids and not {response["id"] for response in responses if response.get("id")} <= ids:
            self.errors.append("Please ensure that the id of a function response is the id of its function call.")

    def say_counts(self) -> None:
        self.errors.append(
            "Please ensure that the number of function response parts is equal to the number of function call parts "
            "of the function call turn."
        )

    def read_head(self, request: JSON) -> None:
        """The system instruction and the tools, which the SDK takes in its config."""
        head = request.get("config") or request
        instruction = head.get("systemInstruction") or head.get("system_instruction") or {"parts": [{"text": "-"}]}
        if not instruction["parts"] or any(not part.get("text") for part in instruction["parts"]):
            self.errors.append("* GenerateContentRequest.system_instruction.parts: contents.parts must not be empty.")
        names = [
            declaration["name"]
            for tool in head.get("tools") or []
            for declaration in tool.get("functionDeclarations") or tool.get("function_declarations") or []
        ]
        twice = sorted({name for name in names if names.count(name) > 1})
        self.errors += [f"Duplicate function declaration found: {name}" for name in twice]


def data_of(part: JSON) -> tuple[str, Any]:
    """Which data the part holds, and it; "none" for none, "other" for what has no rule here."""
    held = [(DATA.get(key, "other"), value) for key, value in part.items() if key not in NOT_DATA and value is not None]
    known = [pair for pair in held if pair[0] != "other"]
    return (known or held or [("none", None)])[0]
