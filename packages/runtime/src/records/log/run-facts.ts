import * as fs from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { errnoOf } from '@tool-hub/core/lib'
import { openOurs, syncFolder } from '@tool-hub/sandbox/system'
import { inspectLine, type LineFacts } from './event-line.ts'
import { peekHead, type RecordedTaint } from './head.ts'
import { readLinesSync } from './lines.ts'
import { parseEvent } from './read-events.ts'

/** The taint of a run that has read nothing from outside. */
export const NO_TAINT: RecordedTaint = Object.freeze({ sources: [], wasCleared: false })

/** The source of a taint whose line cannot be read. */
const UNKNOWN_SOURCE = 'an unknown source'
/** A run has at most this many sources, with at most so many characters each. */
export const MAX_TAINT_SOURCES = 20
export const MAX_SOURCE_CHARS = 200

/** The taint of a run after a line of its record. A line that cannot be read may have tainted it. */
export function taintAfter(before: RecordedTaint, bytes: Buffer, facts: LineFacts | undefined): RecordedTaint {
  if (!facts) return before.sources.length > 0 ? before : { ...before, sources: [UNKNOWN_SOURCE] }
  if (facts.type === 'run-tainted') return { ...before, sources: sourcesOf(bytes) }
  return facts.type === 'taint-cleared' && facts.intact ? { sources: [], wasCleared: true } : before
}

/** What has tainted a run, by its folder, without opening it: the head says so, and the lines after it. */
export function readTaintSync(folder: string): RecordedTaint {
  const descriptor = openEvents(folder)
  if (descriptor === undefined) return NO_TAINT
  try {
    const found = peekHead(folder)
    const head = found === 'broken' ? undefined : found
    const isHeadInFile = head !== undefined && head.bytes <= fs.fstatSync(descriptor).size
    let taint = (isHeadInFile ? head.taint : undefined) ?? NO_TAINT
    for (const { bytes } of readLinesSync(descriptor, isHeadInFile ? head.bytes : 0))
      if (!isOrdinary(bytes)) taint = taintAfter(taint, bytes, inspectLine(bytes))
    return withMarks(taint, readTaintMarks(folder))
  } finally {
    fs.closeSync(descriptor)
  }
}

/** The owner of a run by its record: a principal, or the owner of the hub if `principal` is `undefined`. */
export interface RecordedOwner {
  readonly principal: string | undefined
}

/**
 * Returns the owner of a run, or `undefined` if the run has not started: it will belong to the first principal that
 * uses it.
 */
export function readOwnerSync(folder: string): RecordedOwner | undefined {
  const descriptor = openEvents(folder)
  if (descriptor === undefined) return undefined
  try {
    for (const line of readLinesSync(descriptor)) {
      const event = parseEvent(line)
      if (event?.type === 'run-opened' && event.principal !== undefined) return { principal: event.principal }
      if (event?.type !== 'call-started' && event?.type !== 'call-ended') continue
      return { principal: markedPrincipal(folder) ?? event.principal }
    }
    const principal = markedPrincipal(folder)
    return principal === undefined ? undefined : { principal }
  } finally {
    fs.closeSync(descriptor)
  }
}

/** The files in which earlier versions kept the owner and the taint of a run. */
const MARKS = { tainted: 'tainted', cleared: 'taint-cleared', principal: 'principal' } as const

/** Reads the taint that an earlier version has left in the folder of a run. An empty file names no source. */
export function readTaintMarks(folder: string): RecordedTaint {
  const tainted = readMark(folder, MARKS.tainted)
  const sources = tainted?.split('\n').filter((line) => line !== '') ?? []
  return {
    sources: tainted !== undefined && sources.length === 0 ? [UNKNOWN_SOURCE] : sources.slice(0, MAX_TAINT_SOURCES),
    wasCleared: readMark(folder, MARKS.cleared) !== undefined,
  }
}

function markedPrincipal(folder: string): string | undefined {
  try {
    return fs.readFileSync(join(folder, MARKS.principal), 'utf8') || undefined
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** The taint by the record together with that of an earlier version: a tainted run never becomes clean by an upgrade. */
export function withMarks({ sources, wasCleared }: RecordedTaint, marks: RecordedTaint): RecordedTaint {
  return {
    sources: [...new Set([...sources, ...marks.sources])].slice(0, MAX_TAINT_SOURCES),
    wasCleared: wasCleared || marks.wasCleared,
  }
}

/** Whether an earlier version has left anything in the folder of a run. */
export function hasMarks(folder: string): boolean {
  return Object.values(MARKS).some((name) => fs.existsSync(join(folder, name)))
}

/** Removes what an earlier version has left, once the record says the same and is durable. */
export async function removeMarks(folder: string): Promise<void> {
  await Promise.all(Object.values(MARKS).map((name) => rm(join(folder, name), { force: true, recursive: true })))
  await syncFolder(folder)
}

function readMark(folder: string, name: string): string | undefined {
  try {
    return fs.readFileSync(join(folder, name), 'utf8')
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    // It is there and cannot be read.
    if (errnoOf(error) !== undefined) return ''
    throw error
  }
}

const TYPE = /^\{"seq":\d{1,15},"time":"[^"\\]{1,40}","type":"(?!run-tainted"|taint-cleared")[a-z-]{1,40}"/
const TYPE_BYTES = 128

/** Whether a line is about something else, by its beginning. */
function isOrdinary(bytes: Buffer): boolean {
  return bytes.includes(0) || TYPE.test(bytes.toString('latin1', 0, TYPE_BYTES))
}

function sourcesOf(bytes: Buffer): readonly string[] {
  const event = parseEvent({ bytes, end: 0 })
  const listed: readonly unknown[] = event?.type === 'run-tainted' && Array.isArray(event.sources) ? event.sources : []
  const sources = listed.filter((source) => typeof source === 'string' && source !== '').slice(0, MAX_TAINT_SOURCES)
  return sources.length > 0 ? (sources as string[]) : [UNKNOWN_SOURCE]
}

function openEvents(folder: string): number | undefined {
  try {
    return openOurs(join(folder, 'events.jsonl'), fs.constants.O_RDONLY)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return undefined
    throw error
  }
}
