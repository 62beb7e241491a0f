import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { mkdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Clock, Durability, HeadStore, ToolError } from '@tool-hub/core'
import { errnoOf } from '@tool-hub/core/lib'
import { assertOurFolder, type Lock, takeLock } from '@tool-hub/sandbox/system'
import { sweepArtifactDrafts } from '../artifact-writer.ts'
import { AppendFile, type Disk } from './append-file.ts'
import { CallLog } from './call-log.ts'
import { bodyOf, type ChainLink, FIRST_PREV, inspectLine } from './event-line.ts'
import type { EventBody } from './events.ts'
import type { Head, RecordedTaint } from './head.ts'
import { readLinesSync } from './lines.ts'
import type { RunClosed } from './run-events.ts'
import { NO_TAINT, taintAfter } from './run-facts.ts'
import type { RecordShipment } from './shipment.ts'

/** A line of a record, as it is appended. */
export interface RecordedLine {
  /** The run whose record it belongs to. */
  readonly run: string
  /** Number of the line in its run, counted up. */
  readonly seq: number
  /** When it was written, as ISO 8601. */
  readonly time: string
  /** What happened, with secrets removed. */
  readonly event: EventBody
  /** Size of the run's record including this line. */
  readonly bytes: number
}

/** How a run is recorded. */
export interface RunRecordsOptions {
  readonly durability: Durability
  readonly clock: Clock
  /** Called with every line that is appended. */
  readonly onAppend?: (line: RecordedLine) => void
  /** Called when the disk begins to refuse writes, and when events are lost. */
  readonly onProblem?: (error: ToolError) => void
  /** Where the head of the run is kept outside of its folder. */
  readonly heads?: Pick<HeadStore, 'put'>
  /** Principal that the run belongs to. Default: the owner of the hub. */
  readonly principal?: string
  /** Where the record goes besides the disk. Default: nowhere. */
  readonly shipment?: RecordShipment
  /** For tests of a failing disk. */
  readonly disk?: Disk
}

/** The open files and the lock of a run. */
export interface RunFiles {
  readonly lock: Lock
  readonly events: AppendFile
  readonly log: CallLog
}

/** Folders of the record itself. Tools write to workspace and deliverables. */
const OUR_FOLDERS = ['logs', 'archive', 'artifacts', 'undo'] as const
const TOOL_FOLDERS = ['workspace', 'deliverables'] as const

/**
 * Creates the folders of a run, locks it and opens its files: all or none. Throws for files that another user could
 * change.
 */
export function openRunFiles(
  folder: string,
  what: string,
  { clock, disk }: { readonly clock: Clock; readonly disk?: Disk },
): RunFiles {
  makeFolders(folder)
  const lock = takeLock(join(folder, 'lock'), {
    what,
    fix: { key: 'run', hint: 'Use another run id, or close the hub that holds this one.' },
  })
  try {
    const events = new AppendFile(join(folder, 'events.jsonl'), disk)
    try {
      return { lock, events, log: new CallLog(join(folder, 'logs'), events, clock) }
    } catch (error) {
      events.close()
      throw error
    }
  } catch (error) {
    lock.release()
    throw error
  }
}

/** Creates the folders of a run. */
export function makeFolders(folder: string): void {
  // Run by root, the user of the workspace must be able to pass through; nobody else can read or list anything.
  mkdirSync(folder, { recursive: true, mode: process.geteuid?.() === 0 ? 0o711 : 0o700 })
  assertOurFolder(folder, basename(folder))
  for (const name of OUR_FOLDERS) {
    makeFolder(join(folder, name))
    assertOurFolder(join(folder, name), `${basename(folder)}/${name}`)
  }
  for (const name of TOOL_FOLDERS) makeFolder(join(folder, name))
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error
  }
}

/** Closes all files, and then releases the lock. */
export function closeRunFiles({ lock, events, log }: RunFiles): void {
  log.close()
  events.close()
  lock.release()
}

/** Where a run that is opened again continues, and what happened to it. */
interface Recovery {
  readonly last: ChainLink
  /** When the run began; `undefined` for a new one. */
  readonly started: string | undefined
  /** Half a line that a crash left, now in a file of its own. */
  readonly torn?: { readonly bytes: number; readonly file: string }
  /** How many events are missing that the head or the logs prove. */
  readonly missing: number
  /** What has tainted the run, by its record and its head. */
  readonly taint: RecordedTaint
}

const REPLAYED = new Set(['call-started', 'call-ended', 'call-interrupted', 'run-later-changed'])

/**
 * Finds the end of a run's events. A run that was closed in good order is not read; any other is, from its last head.
 */
export function recover(folder: string, events: AppendFile, log: CallLog, head: Head | undefined): Recovery {
  const isTrusted = head !== undefined && fitsHead(events, log, head)
  if (isTrusted) {
    log.lines.calls = head.calls
    log.lines.failures = head.failures
    for (const path of runLaterOf(events, head)) log.lines.runLater.add(path)
    if (isUnchanged(events, log, head))
      return { last: head, started: head.started, missing: 0, taint: head.taint ?? NO_TAINT }
  }
  return scan(folder, events, log, head, isTrusted ? head.bytes : 0)
}

/** The files that run later, by the last line of a run that was closed. */
function runLaterOf(events: AppendFile, { lastLineAt }: Head): readonly string[] {
  if (lastLineAt === undefined) return []
  const [line] = readLinesSync(events.fd, lastLineAt)
  const facts = line && inspectLine(line.bytes)
  if (!line || !facts?.intact || facts.type !== 'run-closed') return []
  return (JSON.parse(bodyOf(line.bytes)) as RunClosed).runLater ?? []
}

function scan(folder: string, events: AppendFile, log: CallLog, head: Head | undefined, from: number): Recovery {
  let last: ChainLink = from > 0 ? head! : { seq: 0, hash: FIRST_PREV }
  let started = from > 0 ? head!.started : undefined
  let end = from
  let taint = (from > 0 ? head!.taint : undefined) ?? NO_TAINT
  log.prepareRepair()
  if (events.bytes > 0) sweepArtifactDrafts(join(folder, 'artifacts'))
  for (const line of readLinesSync(events.fd, from)) {
    // Blocks that a loss of power left unwritten are zeros, which JSON has none of. Other broken lines stay for
    // verifyRun.
    if (line.bytes.includes(0)) continue
    end = line.end
    const facts = inspectLine(line.bytes)
    taint = taintAfter(taint, line.bytes, facts)
    if (!facts) continue
    last = facts
    started ??= facts.time
    if (facts.intact && REPLAYED.has(facts.type)) replay(log, line.bytes, facts)
  }
  const torn = setAside(folder, events, end, last.seq)
  const missing = Math.max(log.cutAfter(last.seq), (head?.seq ?? 0) - last.seq)
  return { last, started, missing, taint, torn }
}

function replay(log: CallLog, line: Buffer, { seq, time }: { readonly seq: number; readonly time: string }): void {
  const body = bodyOf(line)
  log.add(JSON.parse(body) as EventBody, { seq, time, body })
}

/** Moves what follows `end` out of the chain into the archive, for a person to look at. */
function setAside(folder: string, events: AppendFile, end: number, seq: number): Recovery['torn'] {
  const bytes = events.bytes - end
  if (bytes === 0) return undefined
  const file = `archive/torn-${seq + 1}-${randomBytes(4).toString('hex')}.txt`
  const copy = fs.openSync(join(folder, file), 'wx', 0o600)
  try {
    const chunk = Buffer.allocUnsafe(65_536)
    for (let position = end; position < events.bytes; ) {
      const count = fs.readSync(events.fd, chunk, 0, chunk.length, position)
      if (count === 0) break
      fs.writeSync(copy, chunk, 0, count)
      position += count
    }
  } finally {
    fs.closeSync(copy)
  }
  events.truncate(end)
  return { bytes, file }
}

/** Whether the files are at least as long as they were, and the line that the head names is where it was. */
function fitsHead(events: AppendFile, log: CallLog, head: Head): boolean {
  const { tools, errors } = log.bytes
  if (events.bytes < head.bytes || tools < head.toolsBytes || errors < head.errorsBytes) return false
  const tail = `,"hash":"${head.hash}"}\n`
  const bytes = Buffer.alloc(tail.length)
  fs.readSync(events.fd, bytes, 0, tail.length, Math.max(0, head.bytes - tail.length))
  return bytes.toString('latin1') === tail
}

function isUnchanged(events: AppendFile, log: CallLog, head: Head): boolean {
  const { tools, errors } = log.bytes
  return events.bytes === head.bytes && tools === head.toolsBytes && errors === head.errorsBytes
}
