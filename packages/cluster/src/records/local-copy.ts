import { join } from 'node:path'
import { parseJson } from '@tool-hub/core/lib'
import {
  bodyOf,
  type ChainLink,
  FIRST_PREV,
  inspectLine,
  type LineFacts,
  type LineReader,
  type RunOpened,
} from '@tool-hub/runtime/records/log'
import { openLines, type SharedSource, segmentLines, sharedSegments } from './shared-lines.ts'

/** Where the record on this machine begins to differ from the shared one. */
export interface CopyDivergence {
  /** The first event that differs. */
  readonly seq: number
  /** When the last line on this machine was written. */
  readonly lastTime: string
  /**
   * `moved`: this machine wrote its lines, and lost the run before it could share them. `unleased`: they are a whole record of
   * a hub that did not share its runs. `unexplained`: no order of processes leads to both records.
   */
  readonly reason: 'moved' | 'unleased' | 'unexplained'
}

/** A line of the shared record, and the epoch in which its segment was shared: of the last line, if that is in an object. */
interface SharedLine {
  readonly bytes: Buffer
  readonly epoch: number
}

/**
 * Compares the record of a run on this machine with the shared one, line by line. A process that opens the run continues the
 * lines that are shared by then, and those of its own that are not. So the records of two machines may differ from an event
 * on. The two lines there were then written in different epochs, and the shared one was shared in a later epoch than those of
 * all lines that follow on this machine: the processes of these had not shared that event.
 */
export class LocalCopy {
  readonly #reader: LineReader
  #batch: readonly { readonly bytes: Buffer }[] = []
  #next = 0
  /** The last line that both records have, and the epoch of the process that wrote it. */
  #common: ChainLink = { seq: 0, hash: FIRST_PREV }
  #epoch = 0
  /** The last line of this machine. */
  #last: { readonly seq: number; readonly time: string } = { seq: 0, time: '' }
  #hasDiverged = false
  #isContinued: boolean | undefined

  private constructor(reader: LineReader) {
    this.#reader = reader
  }

  /** Opens the record as it is now. Returns `undefined` if this machine has none. */
  static async open(path: string): Promise<LocalCopy | undefined> {
    const reader = await openLines(path)
    return reader && new LocalCopy(reader)
  }

  close(): Promise<void> {
    return this.#reader.close()
  }

  /** Compares the next line of the shared record. Returns how both differ, for the first line that does. */
  async compare(shared: SharedLine): Promise<CopyDivergence | undefined> {
    const facts = this.#hasDiverged ? undefined : inspectLine(shared.bytes)
    if (!facts) return undefined
    const wroteIn = openedIn(shared.bytes, facts) ?? this.#epoch
    let line = await this.#peek()
    while (line && line.facts.seq < facts.seq) line = await this.#skip(line)
    if (line?.facts.seq === facts.seq) {
      if (!line.bytes.equals(shared.bytes)) return this.#diverge(line, { wroteIn, sharedIn: shared.epoch })
      await this.#skip(line)
    }
    const { intact, prev } = facts
    if (!line) this.#isContinued ??= intact && prev === this.#common.hash && wroteIn > this.#epoch
    this.#common = facts
    this.#epoch = wroteIn
    return undefined
  }

  /** Whether the shared record has further lines, and another lease of the run begins with the first of them. */
  get isContinued(): boolean {
    return this.#isContinued === true
  }

  /** The last event of this record, if it continues the shared one. */
  async lastUnshared(): Promise<number | undefined> {
    if (this.#hasDiverged) return undefined
    let line = await this.#peek()
    while (line) line = await this.#skip(line)
    return this.#last.seq > this.#common.seq ? this.#last.seq : undefined
  }

  async #diverge(
    first: LocalLine,
    other: { readonly wroteIn: number; readonly sharedIn: number },
  ): Promise<CopyDivergence> {
    this.#hasDiverged = true
    const wroteIn = openedIn(first.bytes, first.facts) ?? this.#epoch
    let lastIn = wroteIn
    let before = this.#common
    let isIntact = true
    for (let line: LocalLine | undefined = first; line; line = await this.#skip(line)) {
      const { seq, prev, hash, intact } = line.facts
      isIntact &&= intact && seq === before.seq + 1 && prev === before.hash
      lastIn = Math.max(lastIn, openedIn(line.bytes, line.facts) ?? 0)
      before = { seq, hash }
    }
    const { seq } = first.facts
    const isUnleased = isIntact && lastIn === 0 && seq === 1
    const isMoved = isIntact && wroteIn !== other.wroteIn && lastIn < other.sharedIn
    const reason = isUnleased ? 'unleased' : isMoved ? 'moved' : 'unexplained'
    return { seq, lastTime: this.#last.time, reason }
  }

  /** The next line; those that are none of ours are skipped, because `verifyRun` reports them. */
  async #peek(): Promise<LocalLine | undefined> {
    for (;;) {
      const line = this.#batch[this.#next]
      const facts = line && inspectLine(line.bytes)
      if (facts) return { bytes: line.bytes, facts }
      if (line) this.#next++
      else {
        const batch = await this.#reader.next()
        if (!batch) return undefined
        this.#batch = batch
        this.#next = 0
      }
    }
  }

  async #skip({ facts }: LocalLine): Promise<LocalLine | undefined> {
    this.#last = facts
    this.#next++
    return this.#peek()
  }
}

/**
 * Says how a run moved on to another process, by its shared record; `undefined` if that does not show it: a record that was cut
 * on this machine continues in the middle of a lease.
 */
export async function findMove(source: SharedSource, root: string, run: string): Promise<string | undefined> {
  const copy = await LocalCopy.open(join(root, run, 'events.jsonl'))
  if (!copy) return undefined
  try {
    for await (const { segment, content } of sharedSegments(source, run)) {
      for (const bytes of segmentLines(content)) {
        const divergence = await copy.compare({ bytes, epoch: segment.epoch })
        if (divergence?.reason === 'moved')
          return `the run has moved; from event ${divergence.seq} on, this machine has lines that it never shared`
        if (divergence) return undefined
        if (copy.isContinued) return 'the run has moved: another process has continued it'
      }
    }
    return undefined
  } finally {
    await copy.close()
  }
}

interface LocalLine {
  readonly bytes: Buffer
  readonly facts: LineFacts
}

/** The epoch that a line opens: 0 if its process had no lease; `undefined` if the line does not open the run. */
function openedIn(bytes: Buffer, { type }: LineFacts): number | undefined {
  if (type !== 'run-opened') return undefined
  const { epoch } = (parseJson(bodyOf(bytes)) ?? {}) as Partial<RunOpened>
  return Number.isSafeInteger(epoch) ? epoch : 0
}
