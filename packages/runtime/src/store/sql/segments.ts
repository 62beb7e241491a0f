import type {
  BlobStore,
  NewSegment,
  SegmentOutcome,
  SegmentStore,
  SharedHead,
  StoredBlob,
  StoredSegment,
} from '@tool-hub/core'
import {
  all,
  column,
  defineTable,
  type Entity,
  get,
  optional,
  pageSize,
  type Repository,
  type Row,
  run,
  transaction,
  type Work,
} from '@tool-hub/core/sql'
import { RUN_STATES } from './processes.ts'

export const SEGMENTS = defineTable(
  'segments',
  21,
  {
    run: column.text(),
    first: column.bigint({ name: 'first_seq' }),
    last: column.bigint({ name: 'last_seq' }),
    after: column.text({ name: 'after_hash' }),
    hash: column.text(),
    epoch: column.bigint(),
    lines: optional.text(),
    object: optional.text(),
  },
  { key: ['run', 'first'] },
) satisfies Entity<StoredSegment & { readonly run: string }>
const HEADS = RUN_STATES.part('run', 'sharedSeq', 'sharedHash', 'sharedEpoch', 'sharedAt')
const READ = 'WHERE run = ? AND last_seq >= ? ORDER BY first_seq LIMIT ?'
const IN_RANGE = 'WHERE run = ? AND first_seq >= ? AND last_seq <= ? ORDER BY first_seq'
const MOVE =
  'UPDATE segments SET last_seq = ?, hash = ?, epoch = ?, lines = NULL, object = ? WHERE run = ? AND first_seq = ?'
const DROP_MOVED = 'DELETE FROM segments WHERE run = ? AND first_seq > ? AND last_seq <= ?'
const FORGET_HEAD = `UPDATE run_states SET shared_seq = 0, shared_hash = '', shared_epoch = 0, shared_at = 0 WHERE run = ?`

/**
 * The row of the lease is updated, which locks it: a process that takes the run either waits for the lines or is there
 * before them, and then the epoch differs. VALUES names its columns `column1` and so on, in both databases.
 */
function advance(count: number): string {
  const row =
    '(CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS TEXT), CAST(? AS BIGINT), CAST(? AS TEXT), CAST(? AS BIGINT))'
  return `UPDATE run_states SET shared_seq = added.column6, shared_hash = added.column7, shared_epoch = epoch,
 shared_at = added.column8 FROM (VALUES ${listOf(row, count)}) AS added
 WHERE run_states.run = added.column1 AND owner = added.column2 AND epoch = added.column3
 AND shared_seq = added.column4 AND shared_hash = added.column5 RETURNING run`
}

/** The shared records of runs. */
export const segments: Repository<SegmentStore> = {
  append: (added) =>
    transaction(
      function* () {
        const outcomes = new Map<NewSegment, SegmentOutcome>()
        // One round for all runs; only several segments of one run take several.
        for (let rest = [...added]; rest.length > 0; ) {
          const seen = new Set<string>()
          const round = rest.filter(({ run: id }) => !seen.has(id) && seen.add(id))
          yield* appendOnce(round, outcomes)
          rest = rest.filter((segment) => !outcomes.has(segment))
        }
        return added.map((segment) => outcomes.get(segment)!)
      },
      added.map(({ run: id }) => segmentsLock(id)),
    ),
  *heads({ run: id } = {}) {
    const heads = yield* id === undefined
      ? HEADS.list('WHERE shared_seq > 0 ORDER BY run')
      : HEADS.list('WHERE shared_seq > 0 AND run = ?', id)
    return heads.map(toHead)
  },
  *read(id, { from, limit }) {
    return (yield* SEGMENTS.list(READ, id, from, pageSize(limit))).map(withoutRun)
  },
  move: (id, { first, last, object }) =>
    transaction(
      function* () {
        const found = yield* SEGMENTS.list(IN_RANGE, id, first, last)
        const end = found.at(-1)
        if (found[0]?.first !== first || end?.last !== last || !isContiguous(found)) return false
        yield* run(DROP_MOVED, id, first, last)
        yield* run(MOVE, last, end.hash, end.epoch, object, id, first)
        return true
      },
      [segmentsLock(id)],
    ),
  remove: (id) =>
    transaction(
      function* () {
        const objects = yield* all<{ readonly object: string }>(
          'SELECT object FROM segments WHERE run = ? AND object IS NOT NULL',
          id,
        )
        yield* run('DELETE FROM segments WHERE run = ?', id)
        yield* run(FORGET_HEAD, id)
        return objects.map(({ object }) => object)
      },
      [segmentsLock(id)],
    ),
}

function segmentsLock(id: string): string {
  return `segments:${id}`
}

/** At most one segment of each run. */
function* appendOnce(round: readonly NewSegment[], outcomes: Map<NewSegment, SegmentOutcome>): Work<void> {
  const values = round.flatMap(({ run: id, held, first, after, last, hash, at }) => [
    id,
    held.owner,
    held.epoch,
    first - 1,
    after,
    last,
    hash,
    at,
  ])
  const advanced = runsOf(yield* all(advance(round.length), ...values))
  const added = round.filter(({ run: id }) => advanced.has(id))
  if (added.length > 0) {
    const rows = added.flatMap(({ held, ...segment }) => SEGMENTS.values({ ...segment, epoch: held.epoch }))
    const marks = listOf(`(${SEGMENTS.marks})`, added.length)
    yield* run(`INSERT INTO segments (${SEGMENTS.columns}) VALUES ${marks}`, ...rows)
  }
  const refused = round.filter(({ run: id }) => !advanced.has(id))
  const leases = refused.length > 0 ? yield* leasesOf(refused) : new Map()
  for (const segment of round) {
    const { owner, epoch } = leases.get(segment.run) ?? {}
    const isHeld = owner === segment.held.owner && epoch === segment.held.epoch
    outcomes.set(segment, advanced.has(segment.run) ? 'added' : isHeld ? 'gap' : 'moved')
  }
}

interface LeaseRow {
  readonly run: string
  readonly owner: string | null
  readonly epoch: number
}

function* leasesOf(refused: readonly NewSegment[]): Work<ReadonlyMap<string, LeaseRow>> {
  const select = `SELECT run, owner, epoch FROM run_states WHERE run IN (${listOf('?', refused.length)})`
  const rows = yield* all<LeaseRow>(select, ...refused.map(({ run: id }) => id))
  return new Map(rows.map((row) => [row.run, row]))
}

function runsOf(rows: readonly unknown[]): ReadonlySet<string> {
  return new Set(rows.map((row) => (row as LeaseRow).run))
}

function isContiguous(found: readonly StoredSegment[]): boolean {
  return found.every((segment, index) => index === 0 || segment.first === found[index - 1]!.last + 1)
}

function toHead(row: Row<typeof HEADS>): SharedHead {
  return { run: row.run, seq: row.sharedSeq, hash: row.sharedHash, epoch: row.sharedEpoch, at: row.sharedAt }
}

function withoutRun({ run: _, ...segment }: StoredSegment & { readonly run: string }): StoredSegment {
  return segment
}

function listOf(item: string, count: number): string {
  return Array.from({ length: count }, () => item).join(', ')
}

/** How long content that no run uses is kept: a process may be about to use it. */
const UNUSED_AGE_MS = 86_400_000
/** How much one sweep removes: the statements stay short. */
const MAX_SWEPT = 1_000

export const BLOBS = defineTable(
  'blobs',
  21,
  {
    hash: column.text({ key: true }),
    bytes: column.bigint(),
    upload: column.text(),
    parts: column.bigint(),
    object: optional.text(),
    usedAt: column.bigint(),
  },
  { indexes: { use: ['usedAt'], upload: ['upload'] } },
) satisfies Entity<StoredBlob & { readonly usedAt: number }>
export const BLOB_PARTS = defineTable(
  'blob_parts',
  21,
  { upload: column.text(), part: column.bigint(), content: column.bytes(), addedAt: column.bigint() },
  { key: ['upload', 'part'], indexes: { age: ['addedAt'] } },
)
export const BLOB_USES = defineTable(
  'blob_uses',
  21,
  { run: column.text(), hash: column.text() },
  { key: ['run', 'hash'], indexes: { hash: ['hash'] } },
)
const ADD_PART = `${BLOB_PARTS.insert} ON CONFLICT (upload, part) DO NOTHING`
/** It locks the row: content that is used now is not removed at the same moment, and content that was removed is not used. */
const TOUCH = 'UPDATE blobs SET used_at = ? WHERE hash = ?'
const ADD_USE = `${BLOB_USES.insert} ON CONFLICT (run, hash) DO NOTHING`
const FIND_BLOB = `WHERE hash = ?
 AND EXISTS (SELECT 1 FROM blob_uses WHERE blob_uses.hash = blobs.hash AND run = ?)`
const LIST_UNUSED = `WHERE used_at < ?
 AND NOT EXISTS (SELECT 1 FROM blob_uses WHERE blob_uses.hash = blobs.hash) ORDER BY used_at LIMIT ?`
/** The time is compared again, in the row that is locked: somebody may have begun to use it. */
const REMOVE_BLOB = 'DELETE FROM blobs WHERE hash = ? AND upload = ? AND used_at < ?'
const REMOVE_PARTS = 'DELETE FROM blob_parts WHERE upload = ?'
/** A second attempt of the same upload must not remove what the first one has completed. */
const REMOVE_OTHER_PARTS = `DELETE FROM blob_parts WHERE upload = ?
 AND NOT EXISTS (SELECT 1 FROM blobs WHERE hash = ? AND upload = ?)`
/** A process that was killed has left parts that nothing refers to. */
const LIST_ABANDONED = `SELECT upload FROM blob_parts WHERE added_at < ?
 AND NOT EXISTS (SELECT 1 FROM blobs WHERE blobs.upload = blob_parts.upload) GROUP BY upload LIMIT ?`

/** Content by its hash. */
export const blobs: Repository<BlobStore> = {
  *addPart(upload, { number, content, at }) {
    yield* run(ADD_PART, ...BLOB_PARTS.values({ upload, part: number, content, addedAt: at }))
  },
  add: ({ run: id, at, ...blob }) =>
    transaction(
      function* () {
        const insert = `${BLOBS.insert} ON CONFLICT (hash) DO NOTHING`
        // Content may appear or be removed between two statements.
        for (;;) {
          if ((yield* run(TOUCH, at, blob.hash)) === 1) {
            yield* run(REMOVE_OTHER_PARTS, blob.upload, blob.hash, blob.upload)
            break
          }
          if ((yield* run(insert, ...BLOBS.values({ ...blob, usedAt: at }))) === 1) break
        }
        yield* run(ADD_USE, id, blob.hash)
      },
      [`blob:${blob.hash}`],
    ),
  use: (hash, { run: id, at }) =>
    transaction(
      function* () {
        if ((yield* run(TOUCH, at, hash)) === 0) return false
        yield* run(ADD_USE, id, hash)
        return true
      },
      [`blob:${hash}`],
    ),
  *find(hash, id) {
    const found = yield* BLOBS.find(FIND_BLOB, hash, id)
    if (!found) return undefined
    const { usedAt: _, ...blob } = found
    return blob
  },
  *part(upload, number) {
    const row = yield* get<{ readonly content: Uint8Array }>(
      'SELECT content FROM blob_parts WHERE upload = ? AND part = ?',
      upload,
      number,
    )
    return row && new Uint8Array(row.content)
  },
  *release(id) {
    yield* run('DELETE FROM blob_uses WHERE run = ?', id)
  },
  removeUnused: ({ before, limit }) => removeUnused(before, limit),
}

function* removeUnused(before: number, limit: number): Work<string[]> {
  const unused = yield* BLOBS.list(LIST_UNUSED, before, pageSize(limit))
  const objects: string[] = []
  for (const { hash, upload, object } of unused) {
    const isRemoved = yield* transaction(
      function* () {
        if ((yield* run(REMOVE_BLOB, hash, upload, before)) === 0) return false
        yield* run(REMOVE_PARTS, upload)
        return true
      },
      [`blob:${hash}`],
    )
    if (isRemoved && object !== undefined) objects.push(object)
  }
  return objects
}

/** Removes parts that were never completed. What no run uses is removed by `removeUnused`: its objects are elsewhere. */
export function* sweepBlobs(now: number): Work<void> {
  const abandoned = yield* all<{ readonly upload: string }>(LIST_ABANDONED, now - UNUSED_AGE_MS, MAX_SWEPT)
  for (const { upload } of abandoned) yield* run(REMOVE_PARTS, upload)
}
