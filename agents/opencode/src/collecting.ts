import type { Hooks } from "@opencode-ai/plugin"

import type { Originals } from "./originals.ts"

/** Milliseconds that a collection may take before the list is sent as it is. */
export const PATIENCE = 5_000

type Transform = NonNullable<Hooks["experimental.chat.messages.transform"]>
export type Messages = Parameters<Transform>[1]["messages"]
type ToolPart = Extract<Messages[number]["parts"][number], { type: "tool" }>
type Block = Record<string, unknown>

/** Shorten the results that a collection shortens or leaves out; messages and calls stay, so that the list is valid. */
export async function collect(gateway: string, messages: Messages, originals: Originals): Promise<void> {
  const newest = messages.at(-1)
  if (newest === undefined) return
  const response = await fetch(`${gateway}/v1/collect`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      dialect: "anthropic",
      model: modelOf(messages),
      lane: `opencode:${newest.info.sessionID}`,
      messages: messages.flatMap(asMessages),
    }),
    signal: AbortSignal.timeout(PATIENCE),
  })
  if (!response.ok) return
  const answer = (await response.json()) as { messages: { content: unknown }[] }
  const left = new Map<string, string>()
  for (const message of answer.messages) {
    for (const block of Array.isArray(message.content) ? (message.content as Block[]) : []) {
      if (block["type"] === "tool_result") left.set(String(block["tool_use_id"]), textOf(block["content"]))
    }
  }
  for (const part of messages.flatMap((message) => message.parts)) {
    if (part.type !== "tool" || part.state.status !== "completed") continue
    const now = left.get(part.callID)
    if (now === part.state.output) continue
    await originals.keep(newest.info.sessionID, part.callID, part.state.output)
    const line = `[gc: all of it: gc_recall reference="${part.callID}"]`
    // The list is opencode's own copy for this call; the part in it is replaced all the same, never changed.
    replace(messages, part, now === undefined ? line : `${now}\n${line}`)
  }
}

function replace(messages: Messages, part: ToolPart, output: string): void {
  for (const message of messages) {
    const at = message.parts.indexOf(part)
    if (at >= 0 && part.state.status === "completed") message.parts[at] = { ...part, state: { ...part.state, output } }
  }
}

function modelOf(messages: Messages): string {
  for (const { info } of [...messages].reverse()) {
    const model = info.role === "assistant" ? info.modelID : info.model?.modelID
    if (model) return model
  }
  return "unknown"
}

function asMessages({ info, parts }: Messages[number]): Block[] {
  const content: Block[] = []
  const results: Block[] = []
  for (const part of parts) {
    if (part.type === "text" && part.text) content.push({ type: "text", text: part.text })
    if (part.type !== "tool") continue
    content.push({ type: "tool_use", id: part.callID, name: part.tool, input: part.state.input })
    const text = part.state.status === "completed" ? part.state.output : part.state.status === "error" ? part.state.error : undefined
    if (text !== undefined) results.push({ type: "tool_result", tool_use_id: part.callID, content: text })
  }
  const found: Block[] = content.length ? [{ role: info.role, content }] : []
  return results.length ? [...found, { role: "user", content: results }] : found
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content
  return Array.isArray(content) ? content.map((block: Block) => String(block["text"] ?? "")).join("") : ""
}
