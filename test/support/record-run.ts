import { fdatasync, writeSync } from 'node:fs'
import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../../packages/core/src/context.ts'
import type { Disk } from '../../packages/runtime/src/records/log/append-file.ts'
import type { CallEnded, CallStarted, RecordEvent } from '../../packages/runtime/src/records/log/events.ts'
import { readEvents } from '../../packages/runtime/src/records/log/read-events.ts'

/** A folder for runs. */
export function runsFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'tool-hub-records-'))
}

let runs = 0

/** A run id that no other test has. */
export function newRun(): string {
  return `run-${++runs}`
}

/** The start of a call as the pipeline records it. */
export function started(callId: string, more: Partial<CallStarted> = {}): CallStarted {
  return {
    type: 'call-started',
    callId,
    tool: 'notes.save',
    caller: 'test',
    argsHash: 'ab',
    args: { text: 'hi' },
    effect: 'allow',
    rule: 'allow notes.save',
    ...more,
  }
}

/** The end of a call as the pipeline records it. */
export function ended(callId: string, more: Partial<CallEnded> = {}): CallEnded {
  return {
    type: 'call-ended',
    callId,
    tool: 'notes.save',
    status: 'ok',
    durationMs: 1.5,
    bytes: 10,
    resultHash: 'cd',
    ...more,
  }
}

/** All events of a run. */
export async function eventsOf(folder: string): Promise<RecordEvent[]> {
  const events: RecordEvent[] = []
  for await (const event of readEvents(folder)) events.push(event)
  return events
}

/** The lines of a JSONL file. */
export async function jsonLines(path: string): Promise<Array<Record<string, unknown>>> {
  const text = await readFile(path, 'utf8')
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}

/** A clock that stands still until `pass` is called. */
export function standingClock(): { readonly clock: Clock; readonly pass: (ms: number) => void } {
  const timers = new Set<{ at: number; callback: () => void }>()
  let time = 0
  const clock: Clock = {
    now: () => time,
    after(ms, callback) {
      const timer = { at: time + ms, callback }
      timers.add(timer)
      return () => timers.delete(timer)
    },
  }
  const pass = (ms: number) => {
    time += ms
    for (const timer of [...timers]) if (timer.at <= time && timers.delete(timer)) timer.callback()
  }
  return { clock, pass }
}

/** A disk that counts; it takes at most `most` bytes per write, and after `left` bytes refuses until it is fixed. */
export class TestDisk implements Disk {
  writes = 0
  syncs = 0
  fixed = false
  #left: number
  readonly #most: number
  readonly #errno: string

  constructor({ left = Number.POSITIVE_INFINITY, most = Number.POSITIVE_INFINITY, errno = 'ENOSPC' } = {}) {
    this.#left = left
    this.#most = most
    this.#errno = errno
  }

  write(fd: number, bytes: Buffer, offset: number): number {
    const count = Math.min(bytes.length - offset, this.#most, this.fixed ? Number.POSITIVE_INFINITY : this.#left)
    if (count === 0) throw Object.assign(new Error(this.#errno), { code: this.#errno })
    this.#left -= count
    this.writes++
    return writeSync(fd, bytes, offset, count)
  }

  sync(fd: number, done: (error: Error | null) => void): void {
    this.syncs++
    fdatasync(fd, done)
  }
}
