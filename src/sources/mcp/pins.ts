import { join } from 'node:path'
import { z } from 'zod'
import { JsonState } from '../../store/json-state.ts'
import type { Definition } from './definition.ts'
import { type Drift, describeDrift } from './describe-drift.ts'
import { fitPins } from './fit-pins.ts'
import { PART_NAMES, type PinnedParts, partsOf } from './pinned-parts.ts'

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

/** What a look at the definitions of a server found, by the server's names. */
export interface Review {
  /** Those that are not as they were pinned. */
  readonly drifts: ReadonlyMap<string, Drift>
  /** New ones that could not be pinned: the server has more pins than any needs. */
  readonly unpinned: ReadonlySet<string>
}

/** Each server has its own room in it. */
const MOST_BYTES = 32_000_000

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
      maxBytes: MOST_BYTES,
    })
  }

  /** Pins what is seen for the first time, and gives back what is not as it was pinned. */
  review(server: string, definitions: readonly Definition[], now: Date): Review {
    const seen = seenNow(definitions, now)
    const { pins } = this.#state.update((file) => reviewed(file, server, seen))
    const unpinned = new Set(seen.keys())
    const drifts = new Map<string, Drift>()
    for (const pin of pins) {
      if (pin.server !== server || !unpinned.delete(pin.tool) || !pin.drifted) continue
      drifts.set(pin.tool, driftOf(pin, pin.drifted))
    }
    return { drifts, unpinned }
  }

  /** All of them, or those of a server. */
  list(server?: string): readonly Pin[] {
    return this.#state.read().pins.filter((pin) => server === undefined || pin.server === server)
  }

  /** Takes what a server gives now for what it should; gives back what that changes. */
  accept(server: string): readonly Accepted[] {
    const accepted: Accepted[] = []
    this.#state.update((file) => {
      const pins = file.pins.map((pin) => {
        const { drifted, ...others } = pin
        if (pin.server !== server || !drifted) return pin
        accepted.push({ tool: pin.tool, drift: driftOf(pin, drifted) })
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
  return new Pins(data).accept(server).map(({ tool }) => tool)
}

/** The same, with what changed in each of them, for a person to read. */
export async function acceptPinsWithDrift(
  data: string,
  server: string,
): Promise<readonly { readonly tool: string; readonly drift: string }[]> {
  const accepted = new Pins(data).accept(server)
  return Promise.all(accepted.map(async ({ tool, drift }) => ({ tool, drift: await describeDrift(drift) })))
}

/** Forgets the definitions of a server, for the CLI. */
export function forgetPins(data: string, server: string): number {
  return new Pins(data).forget(server)
}

type SeenNow = { readonly hash: string; readonly parts: PinnedParts; readonly at: string }

/** A definition that was taken for what it should be. */
export interface Accepted {
  readonly tool: string
  readonly drift: Drift
}

function driftOf({ parts }: Pin, drifted: NonNullable<Pin['drifted']>): Drift {
  return { before: parts, after: drifted.parts, hash: drifted.hash }
}

function seenNow(definitions: readonly Definition[], now: Date): Map<string, SeenNow> {
  const at = now.toISOString()
  return new Map(
    definitions.map((definition) => [definition.tool, { hash: definition.hash, parts: partsOf(definition), at }]),
  )
}

/** The same file again when nothing is new, so that nothing is written. */
function reviewed(file: File, server: string, seen: ReadonlyMap<string, SeenNow>): File {
  const others = file.pins.filter((pin) => pin.server !== server)
  const before = file.pins.filter((pin) => pin.server === server)
  const known = before.map((pin) => compared(pin, seen.get(pin.tool)))
  const names = new Set(known.map(({ tool }) => tool))
  const fresh = [...seen].flatMap(([tool, now]) => (names.has(tool) ? [] : [{ server, tool, ...now }]))
  const isSame = known.every((pin, index) => pin === before[index])
  if (isSame && fresh.length === 0) return file
  const fitted = fitPins(known, fresh, seen)
  return isSame && fitted.length === before.length ? file : { ...file, pins: [...others, ...fitted] }
}

/** The same pin again unless its definition is another than the last time. */
function compared(pin: Pin, now: SeenNow | undefined): Pin {
  const { drifted, ...pinned } = pin
  if (!now || now.hash === (drifted ?? pin).hash) return pin
  return now.hash === pin.hash ? pinned : { ...pin, drifted: now }
}
