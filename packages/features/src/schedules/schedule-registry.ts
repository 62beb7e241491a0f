import { randomBytes } from 'node:crypto'
import { didYouMean, type FeatureHost, type Rights, ToolError } from '@tool-hub/core'
import { normalName } from '@tool-hub/core/protocol'
import {
  type Definition,
  type DefinitionFields,
  type KnownSchedule,
  readChange,
  readNew,
  toKnown,
  WAKE,
} from './definition.ts'
import { FROM_CONFIG, type StoredSchedule } from './store-types.ts'
import { invalidSchedule, nextTime } from './times.ts'
import type { NewSchedule, ScheduleChange, SchedulesOptions } from './types.ts'

/** Who creates or changes a schedule, and with which rights. */
export interface Maker {
  readonly rights: Rights
  readonly createdBy: Definition['createdBy']
}

const MAX_COUNT = 100
/** How often a change is tried when other processes change the same schedule. */
const TRIES = 5
const MAX_NAMES = 1_000

/** Finds, adds and changes stored schedules. */
export class ScheduleRegistry {
  readonly #host: FeatureHost
  readonly #options: SchedulesOptions

  constructor(host: FeatureHost, options: SchedulesOptions) {
    this.#host = host
    this.#options = options
  }

  async list(principal?: string): Promise<readonly KnownSchedule[]> {
    const rows = await this.#schedules.list(principal === undefined ? {} : { principal })
    return rows.map(toKnown)
  }

  /** A schedule of a principal, or of the owner of the hub if `principal` is empty. Throws `NOT_FOUND` if there is none. */
  async findOwn(principal: string, name: string): Promise<KnownSchedule> {
    const [row] = await this.#schedules.list({ principal, name: normalName(name), limit: 1 })
    if (row) return toKnown(row)
    throw notFound(name, await this.#schedules.list({ principal, limit: MAX_NAMES }))
  }

  /** Any schedule, by id, or by name if that is unambiguous. Throws `NOT_FOUND` or `CONFLICT` otherwise. */
  async findAny(wanted: string): Promise<KnownSchedule> {
    const row = await this.#schedules.find(wanted)
    if (row) return toKnown(row)
    const named = await this.#schedules.list({ name: normalName(wanted), limit: 2 })
    const mine = named.find(({ principal }) => principal === '') ?? (named.length === 1 ? named[0] : undefined)
    if (mine) return toKnown(mine)
    if (named.length === 0) throw notFound(wanted, await this.#schedules.list({ limit: MAX_NAMES }))
    throw new ToolError('CONFLICT', `Several principals have a schedule ${wanted}.`, { hint: 'Give its id.' })
  }

  async add(written: NewSchedule, { rights, createdBy }: Maker, prefix = ''): Promise<KnownSchedule> {
    const now = this.#host.clock.now()
    const { name, enabled, ...said } = readNew(written, this.#options, now)
    // Rules that allow this name allow wake-ups only.
    if (prefix === '' && name === WAKE)
      throw invalidSchedule('The name wake is reserved for wake-ups.', 'Choose another name.')
    const definition: Definition = { ...said, since: now, rights, createdBy }
    const row: StoredSchedule = {
      id: `schedule-${randomBytes(8).toString('hex')}`,
      principal: rights.principal?.name ?? '',
      name: `${prefix}${name}`,
      body: JSON.stringify(definition),
      state: enabled ? 'on' : 'off',
      ...(enabled && nextOf(definition, now)),
      version: 0,
      createdAt: now,
      runs: 0,
    }
    await this.#schedules.add(row, {
      most: prefix === '' ? (this.#options.most ?? MAX_COUNT) : Number.MAX_SAFE_INTEGER,
    })
    this.#host.emitChange('schedules', row.id)
    return { row, definition }
  }

  /** Changes the current version of a schedule, even if it has fired since the caller read it. */
  async change(id: string, written: ScheduleChange, maker?: Maker): Promise<KnownSchedule> {
    return this.#rewrite(id, (before) => {
      const now = this.#host.clock.now()
      const { enabled, ...said } = readChange(written, before.definition, this.#options, now)
      const definition = follow(before, said, makerAfter(before.definition, written, maker), now)
      const state = stateOf(before, definition, enabled ?? before.row.state !== 'off', now)
      if (enabled && state.state === 'done')
        throw invalidSchedule('It has no future time.', 'Give another time, or a larger maxRuns.')
      const { reason } = before.row
      return { definition, ...state, ...(enabled === undefined && reason !== undefined && { reason }) }
    })
  }

  /** Replaces the settings of a schedule; does nothing if they are unchanged. */
  async replace(id: string, written: NewSchedule, maker: Maker): Promise<void> {
    const row = await this.#schedules.find(id)
    if (!row) return
    const now = this.#host.clock.now()
    const after = 'at' in written.when ? Number.NEGATIVE_INFINITY : now
    const { name: _name, enabled, ...said } = readNew(written, this.#options, after)
    const { since: _, rights: __, createdBy: ___, ...before } = toKnown(row).definition
    if (isSame(said, before) && enabled === (row.state !== 'off')) return
    await this.#rewrite(id, (known) => {
      const definition = follow(known, said, maker, now)
      return { definition, ...stateOf(known, definition, enabled, now) }
    })
  }

  /** Disables a schedule that can no longer run, with the reason. */
  async switchOff(id: string, reason: string): Promise<void> {
    await this.#rewrite(id, ({ definition }) => ({ definition, state: 'off', reason }))
  }

  async remove(id: string): Promise<void> {
    await this.#schedules.remove(id)
    this.#host.emitChange('schedules', id)
  }

  async #rewrite(
    id: string,
    rewrite: (
      known: KnownSchedule,
    ) => { definition: Definition } & Pick<StoredSchedule, 'state' | 'reason' | 'dueAt' | 'nextAt'>,
  ): Promise<KnownSchedule> {
    for (let tries = 0; tries < TRIES; tries++) {
      const found = await this.#schedules.find(id)
      if (!found) throw notFound(id, [])
      const { dueAt: _, nextAt: __, reason: ___, ...kept } = found
      const { definition, ...state } = rewrite(toKnown(found))
      const row = { ...kept, ...state, body: JSON.stringify(definition) }
      if (!(await this.#schedules.save(row))) continue
      this.#host.emitChange('schedules', id)
      return { row: { ...row, version: row.version + 1 }, definition }
    }
    throw new ToolError('CONFLICT', 'The schedule was changed by others at the same time.', { retryable: true })
  }

  get #schedules() {
    return this.#host.store.schedules
  }
}

/** The next time after `after`, and when it is due including jitter. */
export function nextOf(definition: Definition, after: number): { dueAt: number; nextAt: number } | undefined {
  const dueAt = nextTime(definition, after)
  if (dueAt === undefined) return undefined
  return { dueAt, nextAt: dueAt + Math.floor(Math.random() * (definition.jitterMs + 1)) }
}

/** Throws `CONFLICT` for a schedule from the config file, which is changed there. */
export function refuseFromConfig({ row }: KnownSchedule): void {
  if (!row.name.startsWith(FROM_CONFIG)) return
  throw new ToolError('CONFLICT', `${row.name} is defined in the config.`, {
    hint: `Change schedules.entries.${row.name.slice(FROM_CONFIG.length)} in tool-hub.yaml, and restart.`,
  })
}

/**
 * Rights change only together with the calls: a caller who changes the time does not lend its rights to existing calls.
 * A schedule that was changed by a tainted caller stays tainted.
 */
function makerAfter(before: Definition, written: ScheduleChange, maker: Maker = before): Maker {
  const { rights, createdBy } = written.calls === undefined ? before : maker
  return { rights, createdBy: { ...createdBy, tainted: maker.createdBy.tainted || before.createdBy.tainted } }
}

/** The definition with new settings; a new interval counts from now. */
function follow(
  { definition }: KnownSchedule,
  said: DefinitionFields,
  { rights, createdBy }: Maker,
  now: number,
): Definition {
  return { ...said, since: isSame(said.when, definition.when) ? definition.since : now, rights, createdBy }
}

/** The state after a change: the next time is kept unless the time has changed. */
function stateOf(
  { row, definition: before }: KnownSchedule,
  definition: Definition,
  isWanted: boolean,
  now: number,
): Pick<StoredSchedule, 'state' | 'dueAt' | 'nextAt'> {
  if (!isWanted) return { state: 'off' }
  if (definition.maxRuns !== undefined && row.runs >= definition.maxRuns) return { state: 'done' }
  const { state, dueAt, nextAt } = row
  const isSameTime = (['when', 'timeZone', 'until'] as const).every((key) => isSame(definition[key], before[key]))
  if (state === 'on' && isSameTime && dueAt !== undefined && nextAt !== undefined) return { state, dueAt, nextAt }
  const next = nextOf(definition, now)
  return next ? { state: 'on', ...next } : { state: 'done' }
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

function notFound(wanted: string, known: readonly StoredSchedule[]): ToolError {
  const names = known.map(({ name }) => name)
  const hint = didYouMean(wanted, names) || 'List the schedules to see their names.'
  return new ToolError('NOT_FOUND', `Schedule ${JSON.stringify(wanted)} not found.`, { hint })
}
