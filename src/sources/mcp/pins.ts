import { join } from 'node:path'
import { z } from 'zod'
import { JsonState } from '../../store/json-state.ts'
import type { Definition } from './definition.ts'
import type { Drift } from './describe-drift.ts'
import { hashDefinition, PART_NAMES, type PinnedParts, partsOf } from './pinned-parts.ts'

const Seen = z.strictObject({
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  parts: z.partialRecord(z.enum(PART_NAMES), z.string()),
  at: z.string(),
})
const PinSchema = Seen.extend({ server: z.string(), tool: z.string(), drifted: Seen.optional() })
const FileSchema = z.strictObject({ version: z.literal(1), pins: z.array(PinSchema) })

/** A definition as it was first seen or accepted, and the other one that its server gives now. */
export type Pin = z.infer<typeof PinSchema>
type File = z.infer<typeof FileSchema>

/** Above it only hashes are kept of a server's definitions. */
const MOST_CHARS = 500_000

/** The definitions that the owner has seen, below the folder of what outlives runs. Shared by processes. */
export class Pins {
  readonly #state: JsonState<File>

  constructor(data: string) {
    this.#state = new JsonState<File>({
      path: join(data, 'mcp-pins.json'),
      schema: FileSchema,
      empty: { version: 1, pins: [] },
      what: 'The pinned definitions of MCP tools',
      hint: 'Correct or delete the file; without it, tools are pinned as they are seen next.',
    })
  }

  /** Pins what is seen for the first time, and gives back what is not as it was pinned, by the server's names. */
  review(server: string, definitions: readonly Definition[], now: Date): ReadonlyMap<string, Drift> {
    const seen = seenNow(definitions, now)
    const { pins } = this.#state.update((file) => reviewed(file, server, seen))
    const drifts = new Map<string, Drift>()
    for (const pin of pins) {
      if (pin.server !== server || !pin.drifted || !seen.has(pin.tool)) continue
      drifts.set(pin.tool, { before: pin.parts, after: pin.drifted.parts, hash: pin.drifted.hash })
    }
    return drifts
  }

  /** All of them, or those of a server. */
  list(server?: string): readonly Pin[] {
    return this.#state.read().pins.filter((pin) => server === undefined || pin.server === server)
  }

  /** Takes what a server gives now for what it should; gives back the tools whose definition that changes. */
  accept(server: string): readonly string[] {
    const accepted: string[] = []
    this.#state.update((file) => {
      const pins = file.pins.map((pin) => {
        const { drifted, ...others } = pin
        if (pin.server !== server || !drifted) return pin
        accepted.push(pin.tool)
        return { ...others, ...drifted }
      })
      return accepted.length > 0 ? { ...file, pins } : file
    })
    return accepted
  }

  /** Forgets a server; its tools are pinned as they are seen next. Gives back how many were forgotten. */
  forget(server: string): number {
    let forgotten = 0
    this.#state.update((file) => {
      const pins = file.pins.filter((pin) => pin.server !== server)
      forgotten = file.pins.length - pins.length
      return forgotten > 0 ? { ...file, pins } : file
    })
    return forgotten
  }
}

/** The pinned definitions, for the CLI. */
export function listPins(data: string, server?: string): readonly Pin[] {
  return new Pins(data).list(server)
}

/** Accepts the definitions of a server as they were last seen, for the CLI; gives back the tools that changed. */
export function acceptPins(data: string, server: string): readonly string[] {
  return new Pins(data).accept(server)
}

/** Forgets the definitions of a server, for the CLI. */
export function forgetPins(data: string, server: string): number {
  return new Pins(data).forget(server)
}

type SeenNow = { readonly hash: string; readonly parts: PinnedParts; readonly at: string }

function seenNow(definitions: readonly Definition[], now: Date): Map<string, SeenNow> {
  const at = now.toISOString()
  let room = MOST_CHARS
  const seen = new Map<string, SeenNow>()
  for (const definition of definitions) {
    const parts = partsOf(definition)
    room -= JSON.stringify(parts).length
    seen.set(definition.tool, { hash: hashDefinition(definition), parts: room >= 0 ? parts : {}, at })
  }
  return seen
}

/** The same file again when nothing is new, so that nothing is written. */
function reviewed(file: File, server: string, seen: ReadonlyMap<string, SeenNow>): File {
  let isChanged = false
  const known = new Set<string>()
  const pins = file.pins.map((pin) => {
    const now = pin.server === server ? seen.get(pin.tool) : undefined
    if (!now) return pin
    known.add(pin.tool)
    const { drifted, ...others } = pin
    if (now.hash === (drifted ?? pin).hash) return pin
    isChanged = true
    return now.hash === pin.hash ? others : { ...pin, drifted: now }
  })
  for (const [tool, now] of seen) {
    if (known.has(tool)) continue
    isChanged = true
    pins.push({ server, tool, ...now })
  }
  return isChanged ? { ...file, pins } : file
}
