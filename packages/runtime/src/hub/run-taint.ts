import { join } from 'node:path'
import { type Awaitable, isRunId, ToolError } from '@tool-hub/core'
import { escapeLine } from '@tool-hub/core/lib'
import {
  MAX_SOURCE_CHARS,
  MAX_TAINT_SOURCES,
  type RecordedOwner,
  type RunRecords,
  readOwnerSync,
} from '../records/log/index.ts'

/** Where the taint of a run is kept in addition to its record: the store, if processes on other machines share it. */
export interface TaintPlace {
  /** Replaces what has tainted the run; an empty list clears it. Rejects if the run has moved to another process. */
  save(sources: readonly string[]): Awaitable<void>
}

/** The owner and the taint of an open run for later processes. The record has them, and the store if it is shared. */
export class KeptTaint {
  readonly #records: RunRecords
  readonly #places: TaintPlace[] = []
  /** Whether owner and taint survive a loss of power; `synced` waits for it. */
  isDurable: boolean
  #isTainted: boolean
  /** What the other places do not have yet. */
  #unsaved: readonly string[] | undefined
  #changes = 0
  #syncing: Promise<void> | undefined

  /** `isNewlyOwned`: the record has just got the owner of the run; `known`: what has tainted it, by the store. */
  constructor(
    records: RunRecords,
    { isNewlyOwned, shared }: { isNewlyOwned: boolean; shared?: { known: readonly string[]; kept: TaintPlace } },
  ) {
    this.#records = records
    this.isDurable = !isNewlyOwned
    if (shared) {
      this.#places.push(shared.kept)
      this.#merge(shared.known)
    }
    this.#isTainted = records.taint.sources.length > 0
  }

  /** Keeps the taint in another place, too, from now on. */
  keepIn(place: TaintPlace): void {
    this.#places.push(place)
    if (this.#isTainted) this.#changed(this.#records.taint.sources)
  }

  /** A run is tainted if its record says so or the store: a process that was killed may have told only one of them. */
  #merge(known: readonly string[]): void {
    const { sources } = this.#records.taint
    const all = [...new Set([...known, ...sources])].slice(0, MAX_TAINT_SOURCES)
    if (all.some((source) => !sources.includes(source))) this.#records.appendTaint(all)
    if (all.some((source) => !known.includes(source))) this.#changed(all)
  }

  /**
   * Records what has tainted the run. A loss of power may lose names of sources that are added later, never the taint.
   * Throws if the disk does not take it: content that taints the run must not be used then.
   */
  set(sources: readonly string[], { isChanged }: { readonly isChanged: boolean }): void {
    if (this.#isTainted && !isChanged) return
    const refused = this.#records.appendTaint(sources)
    if (!this.#isTainted || this.#places.length > 0) this.#changed(sources)
    if (refused && !this.#isTainted) throw refused
    this.#isTainted = true
  }

  /** Clears the taint, on record first; `since` has tainted the run meanwhile. */
  async clear(
    clearing: { readonly by: string; readonly reason: string; readonly sources: readonly string[] },
    since: () => readonly string[],
  ): Promise<void> {
    this.#isTainted = false
    try {
      await this.#records.clearTaint(clearing)
    } catch (error) {
      this.#isTainted = true
      throw error
    }
    if (this.#places.length === 0) return
    this.#changed(since())
    await this.synced()
  }

  /** Resolves when owner and taint are durable. Returns `undefined` if they already are. */
  synced(): Promise<void> | undefined {
    if (this.isDurable) return undefined
    this.#syncing ??= this.#sync().finally(() => {
      this.#syncing = undefined
    })
    return this.#syncing
  }

  #changed(sources: readonly string[]): void {
    this.#changes++
    this.isDurable = false
    if (this.#places.length > 0) this.#unsaved = sources
  }

  async #sync(): Promise<void> {
    while (!this.isDurable) {
      const changes = this.#changes
      const unsaved = this.#unsaved
      const saving = unsaved ? this.#places.map((place) => place.save(unsaved)) : []
      await Promise.all([this.#records.synced(), ...saving])
      if (changes !== this.#changes) continue
      this.#unsaved = undefined
      this.isDurable = true
    }
  }
}

const OTHER_SOURCES = 'other sources'

/** What has tainted a run, in order: `mcp:mail/get_unread`, `https://example.org`, a path, `caller`. */
export class TaintSources {
  readonly #names: Set<string>
  readonly #redact: (text: string) => string

  constructor(redact: (text: string) => string, names: readonly string[] = []) {
    this.#redact = redact
    this.#names = new Set(names)
  }

  /** Returns whether the list has changed: it has each source once, and at most 20. */
  add(source: string): boolean {
    const names = this.#names
    if (names.has(source) || names.size >= MAX_TAINT_SOURCES) return false
    const name = shorten(this.#redact(source))
    const before = names.size
    names.add(before < MAX_TAINT_SOURCES - 1 || names.has(name) ? name : OTHER_SOURCES)
    return names.size > before
  }

  get list(): readonly string[] {
    return [...this.#names]
  }
}

function shorten(source: string): string {
  const line = escapeLine(source)
  return line.length <= MAX_SOURCE_CHARS ? line : `${line.slice(0, MAX_SOURCE_CHARS - 1)}…`
}

/**
 * Returns the owner of a run on this machine, or `undefined` if the run has not started: it will belong to the first
 * principal that uses it. An invalid run id is refused later, when its records are opened.
 */
export function runOwner(folder: string, id: string): RecordedOwner | undefined {
  return isRunId(id) ? readOwnerSync(join(folder, id)) : { principal: undefined }
}

/** Throws NOT_FOUND if the run belongs to another principal. */
export function assertOwner(id: string, known: string | undefined, principal: string): void {
  if (known !== principal) throw notOwned(id, principal)
}

/** Returns the error for a run of another principal, the same as for a run that does not exist. */
export function notOwned(id: string, principal: string): ToolError {
  return new ToolError('NOT_FOUND', `Run ${JSON.stringify(id)} of ${principal} not found.`, {
    hint: 'Leave run out, or use a name that nobody else has used.',
  })
}
