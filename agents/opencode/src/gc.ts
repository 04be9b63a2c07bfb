/**
 * gc-core inside opencode.
 *
 * A long tool result is shortened when it arrives; the original is kept for its owner alone, and the tool gc_recall
 * reads it back. With a gateway (GC_GATEWAY_URL, or the option `gateway`) older results are shortened too, before each
 * call, as POST /v1/collect says. Whatever goes wrong, opencode goes on as if this plugin were not there.
 *
 * opencode takes every export of this file for a plugin: there is one.
 */
import { tool, type Plugin } from "@opencode-ai/plugin"

import { collect } from "./collecting.ts"
import { Originals, stateFolder } from "./originals.ts"
import { LONGEST, page, shortened } from "./results.ts"

/** Tools whose results are read in order to be edited, and those that only repeat what is kept. */
const WHOLE = new Set(["read", "edit", "write", "patch", "gc_recall"])

export const GcPlugin: Plugin = async (_input, options) => {
  const gateway = String(options?.["gateway"] ?? process.env["GC_GATEWAY_URL"] ?? "").replace(/\/$/, "")
  const originals = new Originals(stateFolder())
  return {
    tool: {
      gc_recall: tool({
        description: "Get the original text of what was left out of the context.",
        args: {
          reference: tool.schema.string().describe("the id in a [gc: ...] line"),
          offset: tool.schema.number().int().min(0).optional().describe("characters to skip"),
        },
        async execute({ reference, offset }, context) {
          const text = await originals.read(context.sessionID, reference)
          return text === undefined ? `nothing was kept as ${reference.slice(0, 100)}` : page(text, reference, offset ?? 0)
        },
      }),
    },
    "tool.execute.after": async (input, output) => {
      await quietly(async () => {
        if (WHOLE.has(input.tool) || typeof output.output !== "string" || output.output.length <= LONGEST) return
        await originals.keep(input.sessionID, input.callID, output.output)
        output.output = shortened(output.output, input.tool, input.callID)
      })
    },
    "experimental.chat.messages.transform": async (_input, output) => {
      if (gateway) await quietly(() => collect(gateway, output.messages, originals))
    },
    "experimental.session.compacting": async (input, output) => {
      await quietly(async () => {
        const kept = await originals.list(input.sessionID)
        output.context.push("Keep every rule that the user stated in the summary, word for word.")
        if (kept.length) {
          output.context.push(`Say in the summary that gc_recall reads these results back whole: ${kept.slice(-40).join(", ")}`)
        }
      })
    },
  }
}

/** Run a step that may fail: a full disk, no gateway, a shape that was not known. */
async function quietly(step: () => Promise<void>): Promise<void> {
  await step().catch(() => undefined)
}
