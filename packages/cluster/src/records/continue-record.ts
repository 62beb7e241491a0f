import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { open, rename, rm, truncate, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ToolError } from '@tool-hub/core'
import { type ChainLink, diskError, inspectLine, makeFolders, readHeadSync } from '@tool-hub/runtime/records/log'
import { syncFolder, takeLock } from '@tool-hub/sandbox/system'
import type { SharedHead } from '../store/types.ts'
import { NOTHING_SHARED, type SharedPosition } from './next-segment.ts'
import { openLines, type SharedSource, segmentLines, sharedLines, sharedSegments } from './shared-lines.ts'

/** Lines are written in batches of about this size. */
const BATCH_BYTES = 256 * 1024

/**
 * Makes the record of a run on this machine continue the shared one, before the run is opened: lines that are missing are
 * added; a record with further lines of its own on the same chain stays; one that differs is set aside in `archive/` and
 * replaced. Returns up to where the record is shared. The caller has the lease on the run.
 */
export async function continueRecord(folder: string, run: string, source: SharedSource): Promise<SharedPosition> {
  const [head] = await source.segments.heads({ run })
  if (!head) return NOTHING_SHARED
  try {
    makeFolders(folder)
    const hint = 'Give each process of the hub its own folder of runs.'
    const lock = takeLock(join(folder, 'lock'), { what: `Run ${run}`, fix: { key: 'runs', hint } })
    try {
      return await bringUpToDate(folder, run, { source, head })
    } finally {
      lock.release()
    }
  } catch (error) {
    throw diskError(`Run ${run} cannot be continued on this machine`, folder, error)
  }
}

async function bringUpToDate(
  folder: string,
  run: string,
  { source, head }: { readonly source: SharedSource; readonly head: SharedHead },
): Promise<SharedPosition> {
  const path = join(folder, 'events.jsonl')
  const local = await findEnd(folder, head)
  if (local.isShared) return local.end
  if (local.isIntact && (await hasLine(source, run, local.end))) {
    await cutTorn(folder, local.end)
    return addLines(path, { source, run, head, end: local.end })
  }
  // Complete and verified before it takes the place of what is there.
  const draft = `${path}.${suffix()}.draft`
  try {
    const end = await addLines(draft, { source, run, head, end: NOTHING_SHARED })
    await setAside(folder, local.end.seq)
    await rename(draft, path)
    await syncFolder(folder)
    return end
  } finally {
    await rm(draft, { force: true })
  }
}

/** What the record on this machine has of the shared one. */
interface LocalRecord {
  /** The last line that counts: the last shared one if the record has it, and otherwise its last intact one. */
  readonly end: SharedPosition
  /** Whether it has all shared lines. */
  readonly isShared: boolean
  /** Whether all lines are as they were written. */
  readonly isIntact: boolean
}

async function findEnd(folder: string, head: SharedHead): Promise<LocalRecord> {
  const closed = readHeadSync(folder)
  const path = join(folder, 'events.jsonl')
  if (closed?.seq === head.seq && closed.hash === head.hash && sizeOf(path) >= closed.bytes)
    return { end: { seq: closed.seq, hash: closed.hash, bytes: closed.bytes }, isShared: true, isIntact: true }
  const reader = await openLines(path)
  if (!reader) return { end: NOTHING_SHARED, isShared: false, isIntact: true }
  let end: SharedPosition = NOTHING_SHARED
  try {
    for (let lines = await reader.next(); lines; lines = await reader.next()) {
      for (const line of lines) {
        const facts = inspectLine(line.bytes)
        if (!facts?.intact || facts.seq !== end.seq + 1 || facts.prev !== end.hash)
          return { end, isShared: false, isIntact: false }
        end = { seq: facts.seq, hash: facts.hash, bytes: line.end }
        if (facts.seq === head.seq)
          return { end, isShared: facts.hash === head.hash, isIntact: facts.hash === head.hash }
      }
    }
  } finally {
    await reader.close()
  }
  return { end, isShared: false, isIntact: true }
}

/** Appends the shared lines that follow `end`, and checks that they lead to the head. */
async function addLines(
  path: string,
  {
    source,
    run,
    head,
    end,
  }: { readonly source: SharedSource; readonly run: string; readonly head: SharedHead; readonly end: SharedPosition },
): Promise<SharedPosition> {
  const file = await open(path, 'a', 0o600)
  let { seq, bytes } = end
  try {
    let batch: Buffer[] = []
    let waiting = 0
    const write = async () => {
      await file.appendFile(Buffer.concat(batch))
      bytes += waiting
      batch = []
      waiting = 0
    }
    for await (const line of sharedLines(source, run, end)) {
      batch.push(line, NEWLINE)
      waiting += line.length + 1
      seq++
      if (waiting >= BATCH_BYTES) await write()
    }
    if (seq !== head.seq) throw incomplete(run, seq, head.seq)
    await write()
    await file.sync()
  } finally {
    await file.close()
  }
  await syncFolder(dirname(path))
  return { seq: head.seq, hash: head.hash, bytes }
}

const NEWLINE = Buffer.from('\n')

/** Whether the shared record has this line, too. */
async function hasLine(source: SharedSource, run: string, { seq, hash }: ChainLink): Promise<boolean> {
  if (seq === 0) return true
  for await (const { content } of sharedSegments(source, run, seq)) {
    for (const line of segmentLines(content)) {
      const facts = inspectLine(line)
      if (facts?.seq === seq) return facts.hash === hash
    }
    break
  }
  throw incomplete(run, 0, seq)
}

function incomplete(run: string, seq: number, known: number): ToolError {
  return new ToolError('CONFLICT', `The shared record of run ${run} ends at event ${seq}, but ${known} is known.`, {
    hint: `Look at it with tool-hub audit verify --shared ${run}, and use another run id.`,
    details: { run, seq, known },
  })
}

/** Half a line that a crash left: it is set aside, and the shared lines follow. */
async function cutTorn(folder: string, end: SharedPosition): Promise<void> {
  const path = join(folder, 'events.jsonl')
  const size = sizeOf(path)
  if (size <= end.bytes) return
  const torn = Buffer.alloc(size - end.bytes)
  const file = await open(path, 'r')
  await file.read(torn, 0, torn.length, end.bytes).finally(() => file.close())
  await writeFile(join(folder, `archive/torn-${end.seq + 1}-${suffix()}.txt`), torn, { flag: 'wx', mode: 0o600 })
  await truncate(path, end.bytes)
}

/** The lines are evidence of what this machine did after it had lost the run; files derived from them are removed. */
async function setAside(folder: string, seq: number): Promise<void> {
  const path = join(folder, 'events.jsonl')
  if (sizeOf(path) > 0) await rename(path, join(folder, `archive/diverged-${seq}-${suffix()}.jsonl`))
  for (const name of ['head.json', 'logs/tools.jsonl', 'logs/errors.jsonl'])
    await rm(join(folder, name), { force: true })
}

function suffix(): string {
  return randomBytes(4).toString('hex')
}

function sizeOf(path: string): number {
  return fs.statSync(path, { throwIfNoEntry: false })?.size ?? 0
}
