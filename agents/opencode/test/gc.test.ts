import assert from "node:assert/strict"
import { mkdtemp, readdir, stat, writeFile } from "node:fs/promises"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, before, test } from "node:test"

import type { Hooks, PluginInput } from "@opencode-ai/plugin"

import type { Messages } from "../src/collecting.ts"
import * as plugin from "../src/gc.ts"
import { LONGEST, PAGE, shortened } from "../src/results.ts"

const LONG = Array.from({ length: 1_500 }, (_, at) => `line ${at} of the output${at === 700 ? ": error: refused" : ""}`).join("\n")
let state = ""

before(async () => {
  state = process.env["GC_AGENTS_DIRECTORY"] = await mkdtemp(join(tmpdir(), "gc-"))
})

async function hooks(options?: Record<string, unknown>): Promise<Hooks> {
  return plugin.GcPlugin({} as PluginInput, options)
}

async function ran(own: Hooks, tool: string, output: unknown, callID = "call_1"): Promise<unknown> {
  const told = { title: "", output: output as string, metadata: {} }
  await own["tool.execute.after"]!({ tool, sessionID: "ses_1", callID, args: {} }, told)
  return told.output
}

async function recalled(own: Hooks, reference: string, offset = 0, sessionID = "ses_1"): Promise<string> {
  const context = { sessionID } as Parameters<NonNullable<Hooks["tool"]>[string]["execute"]>[1]
  return String(await own.tool!["gc_recall"]!.execute({ reference, offset }, context))
}

test("the module exports the plugin and nothing else, which opencode would take for one", () => {
  assert.deepEqual(Object.keys(plugin), ["GcPlugin"])
})

test("a long result is shortened, keeps its failures, and is read back whole", async () => {
  const own = await hooks()
  const short = String(await ran(own, "bash", LONG))
  assert.ok(short.length < 7_000)
  assert.match(short, /error: refused/)
  assert.ok(short.startsWith("line 0 of the output\n"))
  const reference = short.split("\n").at(-1)!
  assert.match(reference, /gc_recall reference="call_1"/)
  let text = ""
  for (let at = 0; at < LONG.length; at += PAGE) text += (await recalled(own, reference, at)).split("\n[")[0]
  assert.equal(text, LONG)
})

test("what is short, read to be edited, or no text stays as it is", async () => {
  const own = await hooks()
  for (const [tool, output] of [["bash", "x".repeat(LONGEST)], ["read", LONG], ["gc_recall", LONG], ["bash", undefined], ["bash", 7]] as const) {
    assert.equal(await ran(own, tool, output, "call_2"), output)
  }
  assert.match(await recalled(own, "call_2"), /nothing was kept/)
})

test("ids that could name anything else write and read nothing", async () => {
  const own = await hooks()
  for (const call of ["../../x", "", "a/b", "x".repeat(300)]) {
    assert.equal(await ran(own, "bash", LONG, call), LONG)
    assert.match(await recalled(own, call), /nothing was kept/)
  }
  assert.match(await recalled(own, "call_1", 0, "ses_2"), /nothing was kept/)
  assert.match(await recalled(own, "call_1", 0, "../ses_1"), /nothing was kept/)
})

test("originals are for their owner alone", async () => {
  await ran(await hooks(), "bash", LONG)
  const folder = join(state, "opencode", "ses_1", "originals")
  assert.equal((await stat(folder)).mode & 0o777, 0o700)
  assert.equal((await stat(join(folder, (await readdir(folder))[0]!))).mode & 0o777, 0o600)
})

test("where nothing can be written the result stays as it is", async () => {
  const kept = process.env["GC_AGENTS_DIRECTORY"]
  const file = join(state, "file")
  await writeFile(file, "")
  process.env["GC_AGENTS_DIRECTORY"] = file
  const own = await hooks()
  process.env["GC_AGENTS_DIRECTORY"] = kept
  assert.equal(await ran(own, "bash", LONG), LONG)
})

test("the summary is told what can be read back", async () => {
  const own = await hooks()
  await ran(own, "bash", LONG)
  const output = { context: [] as string[] }
  await own["experimental.session.compacting"]!({ sessionID: "ses_1" }, output)
  assert.match(output.context.join("\n"), /word for word[\s\S]*call_1/)
})

// -- before each call --------------------------------------------------------------------------------------------------

const servers: Server[] = []
after(() => servers.forEach((server) => server.close()))

async function gateway(answer: (body: any) => [number, unknown]): Promise<string> {
  const server = createServer((request, response) => {
    let text = ""
    request.on("data", (part) => (text += part))
    request.on("end", () => {
      const [status, body] = answer(JSON.parse(text))
      response.writeHead(status, { "content-type": "application/json" })
      response.end(typeof body === "string" ? body : JSON.stringify(body))
    })
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function conversation(): Messages {
  const part = (callID: string, output: string) => ({
    id: `p${callID}`, messageID: "m", sessionID: "ses_3", type: "tool", tool: "bash", callID,
    state: { status: "completed", input: { command: "cat" }, output, title: "", metadata: {}, time: { start: 1, end: 2 } },
  })
  const info = (role: string) => ({ id: "m", sessionID: "ses_3", role, modelID: "claude-opus-4-5", time: { created: 1 } })
  return [
    { info: info("user"), parts: [{ id: "p0", messageID: "m", sessionID: "ses_3", type: "text", text: "Read." }] },
    { info: info("assistant"), parts: [part("c1", "one"), part("c2", "two")] },
    { info: info("assistant"), parts: [part("c3", "three")] },
  ] as unknown as Messages
}

const outputs = (messages: Messages) =>
  messages.flatMap((message) => message.parts).flatMap((part) => (part.type === "tool" && part.state.status === "completed" ? [part.state.output] : []))

test("results that a collection shortens or leaves out are so in this call, and are read back", async () => {
  let asked: any
  const url = await gateway((body) => {
    asked = body
    const stub = { type: "tool_result", tool_use_id: "c2", content: [{ type: "text", text: "[gc: 9 tokens left out]" }] }
    return [200, { messages: [{ role: "user", content: "[gc: …]" }, { role: "user", content: [stub, { type: "tool_result", tool_use_id: "c3", content: "three" }] }] }]
  })
  const own = await hooks({ gateway: url })
  const messages = conversation()
  await own["experimental.chat.messages.transform"]!({}, { messages })
  assert.deepEqual([asked.dialect, asked.model, asked.lane], ["anthropic", "claude-opus-4-5", "opencode:ses_3"])
  assert.deepEqual(asked.messages.map((message: any) => message.role), ["user", "assistant", "user", "assistant", "user"])
  const [one, two, three] = outputs(messages)
  assert.equal(one, '[gc: all of it: gc_recall reference="c1"]')
  assert.equal(two, '[gc: 9 tokens left out]\n[gc: all of it: gc_recall reference="c2"]')
  assert.equal(three, "three")
  assert.equal(await recalled(own, one!, 0, "ses_3"), "one")
})

test("the original of a result that was shortened on arrival stays when a collection shortens it again", async () => {
  const url = await gateway(() => [200, { messages: [] }])
  const own = await hooks({ gateway: url })
  const messages = conversation()
  const part = messages[1]!.parts[0]!
  if (part.type !== "tool" || part.state.status !== "completed") throw new Error("expected a result")
  part.state.output = String(await ran(own, "bash", LONG, "c9"))
  part.callID = "c9"
  part.sessionID = messages.at(-1)!.info.sessionID = "ses_1"
  await own["experimental.chat.messages.transform"]!({}, { messages })
  assert.equal(outputs(messages)[0], '[gc: all of it: gc_recall reference="c9"]')
  assert.match(await recalled(own, "c9", 20_000), /line 1499 of the output/)
})

test("an answer that is an error, no JSON, or none at all leaves the list as it is", async () => {
  const refusing = await gateway(() => [413, { error: {} }])
  const broken = await gateway(() => [200, "<html>"])
  for (const url of [refusing, broken, "http://127.0.0.1:1"]) {
    const own = await hooks({ gateway: url })
    const messages = conversation()
    await own["experimental.chat.messages.transform"]!({}, { messages })
    assert.deepEqual(outputs(messages), ["one", "two", "three"])
    await own["experimental.chat.messages.transform"]!({}, { messages: [] })
  }
})

test("a text without a line break is shortened too", () => {
  assert.ok(shortened("x".repeat(50_000), "bash", "call_1").length < 7_000)
})
