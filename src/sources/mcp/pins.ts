import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import type { Awaitable, SharedStore, SourceHost } from '../../core/index.ts'
import { DocumentState, JsonState, type State } from '../../store/index.ts'
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

/** The definitions that the owner has seen, in the data folder or in a store that several machines share. */
export interface PinStore {
  /**
   * Pins all definitions of a server that was never seen before; for a known server, returns what differs from the
   * pins.
   */
  review(server: string, definitions: readonly ServerToolDefinition[], now: Date): Awaitable<Review>
  /** The pins of a server. */
  list(server: string): Awaitable<readonly Pin[]>
  /** Accepts the current definitions of a server, new tools included. Returns the tools that changed. */
  accept(server: string): Awaitable<readonly string[]>
  /**
   * Deletes the pins of a server; its tools are pinned again when they are next listed. Returns how many were deleted.
   */
  forget(server: string): Awaitable<number>
}

/** The pins of a hub, where all of its processes see them. */
export function openPins({ data, sharedStore }: Pick<SourceHost, 'data' | 'sharedStore'>): PinStore {
  return sharedStore ? new SharedPins(data, sharedStore) : new Pins(data)
}

/** Limit of the file; each server also has its own limit. */
const MAX_BYTES = 32_000_000
const WHAT = 'The pinned definitions of MCP tools'
const NO_PINS: File = { version: 1, pins: [] }

/** The pins in a data folder, or in the given state. */
export class Pins implements PinStore {
  readonly #state: State<File>

  constructor(place: string | State<File>) {
    this.#state = typeof place === 'string' ? openFile(place) : place
  }

  review(server: string, definitions: readonly ServerToolDefinition[], now: Date): Review {
    const seen = seenNow(definitions, now)
    const { pins } = this.#state.update((file) => reviewed(file, server, seen))
    const unpinned = new Set(seen.keys())
    const drifts = new Map<string, Drift>()
    const added = new Map<string, Drift>()
    for (const pin of pins) {
      if (pin.server !== server || !unpinned.delete(pin.tool)) continue
      if (pin.isNew) added.set(pin.tool, additionOf(pin))
      else if (pin.drifted) drifts.set(pin.tool, driftOf(pin, pin.drifted))
    }
    return { drifts, added, unpinned }
  }

  /** All pins, or those of one server. */
  list(server?: string): readonly Pin[] {
    return this.#state.read().pins.filter((pin) => server === undefined || pin.server === server)
  }

  accept(server: string): readonly string[] {
    const accepted: string[] = []
    this.#state.update((file) => {
      const pins = file.pins.map((pin) => {
        const { drifted, isNew, ...others } = pin
        if (pin.server !== server || (!drifted && !isNew)) return pin
        accepted.push(pin.tool)
        return { ...others, ...drifted }
      })
      return accepted.length > 0 ? { ...file, pins } : file
    })
    return accepted
  }

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

function openFile(data: string): State<File> {
  return new JsonState<File>({
    path: join(data, 'mcp-pins.json'),
    schema: FileSchema,
    empty: NO_PINS,
    what: WHAT,
    hint: 'Correct or delete the file; without it, tools are pinned as they are seen next.',
    maxBytes: MAX_BYTES,
  })
}

/** The pins in a shared store: one document for each server, so that processes seldom wait for each other. */
class SharedPins implements PinStore {
  readonly #data: string
  readonly #store: SharedStore
  readonly #states = new Map<string, DocumentState<File>>()

  constructor(data: string, store: SharedStore) {
    this.#data = data
    this.#store = store
  }

  review(server: string, definitions: readonly ServerToolDefinition[], now: Date): Promise<Review> {
    return this.#use(server, (pins) => pins.review(server, definitions, now))
  }

  list(server: string): Promise<readonly Pin[]> {
    return this.#use(server, (pins) => pins.list(server))
  }

  accept(server: string): Promise<readonly string[]> {
    return this.#use(server, (pins) => pins.accept(server))
  }

  forget(server: string): Promise<number> {
    return this.#use(server, (pins) => pins.forget(server))
  }

  #use<R>(server: string, work: (pins: Pins) => R): Promise<R> {
    const state = this.#states.get(server) ?? this.#open(server)
    this.#states.set(server, state)
    return state.use((each) => work(new Pins(each)))
  }

  #open(server: string): DocumentState<File> {
    return new DocumentState<File>({
      documents: this.#store.documents,
      name: `mcp-pins/${server}`,
      schema: FileSchema,
      empty: NO_PINS,
      // A hub that moves to a shared store keeps what its owner has seen: a change is not accepted by moving.
      first: () => {
        const pins = new Pins(this.#data).list(server)
        return pins.length > 0 ? { version: 1, pins: [...pins] } : NO_PINS
      },
      what: WHAT,
      hint: 'Restore the store from a backup; only tool-hub writes these documents.',
    })
  }
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
  const others = file.pins.filter((pin) => pin.server !== server)
  const before = file.pins.filter((pin) => pin.server === server)
  const known = before.map((pin) => compared(pin, seen.get(pin.tool)))
  const names = new Set(known.map(({ tool }) => tool))
  // What the first listing of a server contains is pinned; what it adds later could be written to mislead models.
  const state = before.length > 0 ? { isNew: true as const } : {}
  const fresh = [...seen].flatMap(([tool, now]) => (names.has(tool) ? [] : [{ server, tool, ...now, ...state }]))
  const fitted = fitPins(known, fresh, seen)
  return isDeepStrictEqual(fitted, before) ? file : { ...file, pins: [...others, ...fitted] }
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
