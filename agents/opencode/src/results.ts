/** Long results: shortened on arrival, and read back in pages. */

/** Characters up to which a result stays as it is. */
export const LONGEST = 16_000

/** Characters of the head and of the tail that stay of a longer one, and of lines on failures between them. */
export const HEAD = 1_200
export const TAIL = 1_800
export const FAILURES = 3_000

/** Characters of one page of gc_recall. */
export const PAGE = 20_000

const FAILS = /\b(error|failed|failure|exception|traceback|fatal|panic|denied|refused|not found|timed out)\b/i

/** Return head, lines on failures, tail, and a line that names the original. */
export function shortened(text: string, what: string, call: string): string {
  const head = text.slice(0, text.lastIndexOf("\n", HEAD) > HEAD / 2 ? text.lastIndexOf("\n", HEAD) : HEAD)
  const from = text.indexOf("\n", text.length - TAIL)
  const tail = text.slice(from < 0 ? text.length - TAIL : from + 1)
  let room = FAILURES
  const failures: string[] = []
  for (const line of text.slice(head.length, text.length - tail.length).split("\n")) {
    if (line.length <= Math.min(room, 500) && FAILS.test(line)) {
      failures.push(line)
      room -= line.length + 1
    }
  }
  const kept = [head, "[...]", ...(failures.length ? [...failures, "[...]"] : []), tail].join("\n")
  const left = Math.round((text.length - kept.length) / 4).toLocaleString("en-US")
  return `${kept}\n[gc: about ${left} tokens left out: ${what}; all of it: gc_recall reference="${call}"]`
}

/** Return a part of an original, and how to go on. */
export function page(text: string, reference: string, offset: number): string {
  if (offset >= text.length) return `${reference} has ${text.length} characters of text`
  const end = Math.min(text.length, offset + PAGE)
  const rest = `\n[${end} of ${text.length} characters; go on with reference=${reference}, offset=${end}]`
  return text.slice(offset, end) + (end < text.length ? rest : "")
}
