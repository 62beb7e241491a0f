import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { DocumentStore, SourceHost } from '@tool-hub/core'
import { DocumentState, readOldState, type State } from '@tool-hub/runtime/store'
import { z } from 'zod'
import type { ServerToolDefinition } from './definitions.ts'
import { type Drift, PART_NAMES, type PinnedParts, partsOf, pinnedDefinition } from './drift.ts'

const Seen = z.strictObject({
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  parts: z.partialRecord(z.enum(PART_NAMES), z.string()),
  at: z.string(),
})
const PinSchema = Seen.extend({
  server: z.string(),
  tool: z.string(),
  drifted: Seen.optional(),
  /** Its server added it after the server was first seen, and the owner has not accepted it yet. */
  isNew: z.literal(true).optional(),
})
const FileSchema = z.strictObject({ version: z.literal(1), pins: z.array(PinSchema) })

/** A definition as it was first seen or accepted, and the current one if its server has changed it. */
export type Pin = z.infer<typeof PinSchema>
type File = z.infer<typeof FileSchema>

/** Result of reviewing the definitions of a server, by the server's names. */
export interface Review {
  /** Definitions that differ from the pinned ones. */
  readonly drifts: ReadonlyMap<string, Drift>
  /** Definitions that the server added after it was first seen, until the owner accepts them. */
  readonly added: ReadonlyMap<string, Drift>
  /** New definitions that could not be pinned: the server has too many pins. */
  readonly unpinned: ReadonlySet<string>
}

const WHAT = 'The pinned definitions of MCP tools'
const NO_PINS: File = { version: 1, pins: [] }
/** Limit of the file of tool-hub 0.1.0. */
const MAX_OLD_BYTES = 32_000_000

/** The definitions that the owner has seen, where all processes of a hub see them. */
export class Pins {
  readonly #host: Pick<SourceHost, 'data' | 'store'>
  /** One document for each server, so that processes seldom wait for each other. */
  readonly #states = new Map<string, DocumentState<File>>()

  constructor(host: Pick<SourceHost, 'data' | 'store'>) {
    this.#host = host
  }

  /**
   * Pins all definitions of a server that was never seen before; for a known server, returns what differs from the
   * pins.
   */
  review(server: string, definitions: readonly ServerToolDefinition[], now: Date): Promise<Review> {
    const seen = seenNow(definitions, now)
    return this.#use(server, (state) => {
      const { pins } = state.update((file) => reviewed(file, server, seen))
      const unpinned = new Set(seen.keys())
      const drifts = new Map<string, Drift>()
      const added = new Map<string, Drift>()
      for (const pin of pins) {
        if (!unpinned.delete(pin.tool)) continue
        if (pin.isNew) added.set(pin.tool, additionOf(pin))
        else if (pin.drifted) drifts.set(pin.tool, driftOf(pin, pin.drifted))
      }
      return { drifts, added, unpinned }
    })
  }

  /** The pins of a server. */
  list(server: string): Promise<readonly Pin[]> {
    return this.#use(server, (state) => state.read().pins)
  }

  /** Accepts the current definitions of a server, new tools included. Returns the tools that changed. */
  accept(server: string): Promise<readonly string[]> {
    return this.#use(server, (state) => {
      const accepted: string[] = []
      state.update((file) => {
        const pins = file.pins.map((pin) => {
          const { drifted, isNew, ...others } = pin
          if (!drifted && !isNew) return pin
          accepted.push(pin.tool)
          return { ...others, ...drifted }
        })
        return accepted.length > 0 ? { ...file, pins } : file
      })
      return accepted
    })
  }

  /**
   * Deletes the pins of a server; its tools are pinned again when they are next listed. Returns how many were deleted.
   */
  forget(server: string): Promise<number> {
    return this.#use(server, (state) => {
      const forgotten = state.read().pins.length
      if (forgotten > 0) state.update((file) => ({ ...file, pins: [] }))
      return forgotten
    })
  }

  #use<R>(server: string, work: (state: State<File>) => R): Promise<R> {
    const state = this.#states.get(server) ?? this.#open(server)
    this.#states.set(server, state)
    return state.use(work)
  }

  #open(server: string): DocumentState<File> {
    const { data, store } = this.#host
    const { documents, earlier } = store
    return new DocumentState<File>({
      ...stateOf(documents, server),
      // A hub that moves to another store keeps what its owner has seen: a change is not accepted by moving.
      first: async () => (earlier && (await pinsIn(earlier, server))) ?? oldPins(data, server),
    })
  }
}

function stateOf(documents: DocumentStore, server: string) {
  const hint = 'Restore the store from a backup; only tool-hub writes these documents.'
  return { documents, name: `mcp-pins/${server}`, schema: FileSchema, empty: NO_PINS, what: WHAT, hint }
}

/** The pins of a server in these documents; `undefined` if it was never seen there. */
async function pinsIn(documents: Pick<DocumentStore, 'read'>, server: string): Promise<File | undefined> {
  const earlier = new DocumentState<File>(stateOf({ ...documents, write: () => false }, server))
  const pins = await earlier.use((state) => state.read())
  return pins === NO_PINS ? undefined : pins
}

/** The pins of a server in the file of tool-hub 0.1.0. */
function oldPins(data: string, server: string): File | undefined {
  const old = readOldState<File>({
    path: join(data, 'mcp-pins.json'),
    schema: FileSchema,
    what: WHAT,
    hint: 'Correct or delete the file; without it, tools are pinned as they are seen next.',
    maxBytes: MAX_OLD_BYTES,
  })
  const pins = old?.pins.filter((pin) => pin.server === server) ?? []
  return pins.length > 0 ? { version: 1, pins } : undefined
}

type SeenNow = { readonly hash: string; readonly parts: PinnedParts; readonly at: string }

function driftOf(pin: Pin, drifted: NonNullable<Pin['drifted']>): Drift {
  return { before: pin.parts, after: drifted.parts, hash: drifted.hash, pinned: pinnedDefinition(pin.tool, pin) }
}

function additionOf({ parts, hash }: Pin): Drift {
  return { before: {}, after: parts, hash, isNew: true }
}

function seenNow(definitions: readonly ServerToolDefinition[], now: Date): Map<string, SeenNow> {
  const at = now.toISOString()
  return new Map(
    definitions.map((definition) => [definition.tool, { hash: definition.hash, parts: partsOf(definition), at }]),
  )
}

/** Returns the same object if nothing is new, so that nothing is written. */
function reviewed(file: File, server: string, seen: ReadonlyMap<string, SeenNow>): File {
  const { pins: before } = file
  const known = before.map((pin) => compared(pin, seen.get(pin.tool)))
  const names = new Set(known.map(({ tool }) => tool))
  // What the first listing of a server contains is pinned; what it adds later could be written to mislead models.
  const state = before.length > 0 ? { isNew: true as const } : {}
  const fresh = [...seen].flatMap(([tool, now]) => (names.has(tool) ? [] : [{ server, tool, ...now, ...state }]))
  const fitted = fitPins(known, fresh, seen)
  return isDeepStrictEqual(fitted, before) ? file : { ...file, pins: [...fitted] }
}

/** The pin with the current definition of its server. */
function compared(pin: Pin, now: SeenNow | undefined): Pin {
  const { drifted, ...pinned } = pin
  if (!now) return pin
  // There may be space now for texts that were left out before.
  if (now.hash === pin.hash) return pinnedDefinition(pin.tool, pin) ? pinned : { ...pinned, parts: now.parts }
  if (pin.isNew) return { ...pinned, ...now }
  return now.hash === drifted?.hash ? pin : { ...pin, drifted: now }
}

/** Limit for one server, so that none can use the space of the others. */
const MAX_PINS = 2_000
const MAX_PIN_BYTES = 1_000_000
/** How much a pin may grow when its definition changes, without its parts. */
const DRIFT_BYTES = 200

/**
 * Fits the known and new pins of one server into its limit. First the texts that show a change are dropped, then those
 * of new tools and of tools that are not listed. A pin itself is never dropped: its server could list other tools
 * until it is, and then return with another definition under the same name. New pins are left out instead.
 */
export function fitPins(
  known: readonly Pin[],
  fresh: readonly Pin[],
  listed: { has(tool: string): boolean },
): readonly Pin[] {
  let room = MAX_PIN_BYTES - sum(known, leastBytes)
  const added = fresh.slice(0, Math.max(0, MAX_PINS - known.length)).filter((pin) => {
    room -= leastBytes(pin)
    return room >= 0
  })
  const all = [...known, ...added]
  room = MAX_PIN_BYTES - sum(all, leastBytes)
  const worth = ({ tool, isNew }: Pin) => (isNew ? 0 : 2) + (listed.has(tool) ? 1 : 0)
  const byWorth = [...all].sort((a, b) => worth(b) - worth(a))
  const keep = (parts: (pin: Pin) => unknown) => {
    const kept = byWorth.filter((pin) => {
      room -= bytesOf(parts(pin) ?? {})
      return room >= 0
    })
    return new Set(kept)
  }
  const whole = keep(({ parts }) => parts)
  const comparable = keep(({ drifted }) => drifted?.parts)
  return all.map((pin) => ({
    ...pin,
    ...(!whole.has(pin) && { parts: {} }),
    ...(pin.drifted && !comparable.has(pin) && { drifted: { ...pin.drifted, parts: {} } }),
  }))
}

/** The least space that a pin needs, now and after a change of its definition. */
function leastBytes({ server, tool, hash, at }: Pin): number {
  return bytesOf({ server, tool, hash, at }) + DRIFT_BYTES
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}

function sum(pins: readonly Pin[], bytes: (pin: Pin) => number): number {
  return pins.reduce((total, pin) => total + bytes(pin), 0)
}
