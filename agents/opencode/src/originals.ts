import { chmod, mkdir, readFile, readdir, rename, writeFile } from "node:fs/promises"
import { homedir } from "node:os"
import { join } from "node:path"

const ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,199}$/

/** Originals of shortened results, a file each, in a folder for each session. */
export class Originals {
  constructor(private readonly root: string) {}

  /**
   * Keep the original of a call's result; one that is kept already stays, for a later text of the call is shorter.
   * Throws for what is no id, and where it cannot be written.
   */
  async keep(session: string, call: string, text: string): Promise<void> {
    const folder = this.folder(session)
    if (folder === undefined || !ID.test(call)) throw new Error("expected ids of letters, digits, '-' and '_'")
    if ((await this.read(session, call)) !== undefined) return
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await chmod(folder, 0o700)
    const path = join(folder, `${call}.txt`)
    await writeFile(`${path}.tmp`, text, { mode: 0o600 })
    await rename(`${path}.tmp`, path)
  }

  /** Return the original of a call of this session; undefined if none was kept. */
  async read(session: string, reference: string): Promise<string | undefined> {
    const call = /reference="([\w-]{1,200})"/.exec(reference)?.[1] ?? reference
    const folder = this.folder(session)
    if (folder === undefined || !ID.test(call)) return undefined
    return readFile(join(folder, `${call}.txt`), "utf8").catch(() => undefined)
  }

  /** Return the calls of a session whose originals are kept. */
  async list(session: string): Promise<string[]> {
    const folder = this.folder(session)
    const names = folder === undefined ? [] : await readdir(folder).catch(() => [])
    return names.filter((name) => name.endsWith(".txt")).map((name) => name.slice(0, -4))
  }

  private folder(session: string): string | undefined {
    return ID.test(session) ? join(this.root, "opencode", session, "originals") : undefined
  }
}

/** Return the folder of gc-core's state. */
export function stateFolder(): string {
  const home = process.env["XDG_STATE_HOME"] ?? join(homedir(), ".local", "state")
  return process.env["GC_AGENTS_DIRECTORY"] ?? join(home, "gc-agents")
}
