import { join } from 'node:path'
import {
  type BucketOptions,
  type DocumentStore,
  type HeadStore,
  messageOf,
  type Store,
  type StoredHead,
} from '@tool-hub/core'
import { parseJson } from '@tool-hub/core/lib'
import { AuditFindings, ChainCheck, type KnownHead, type VerifyReport } from '@tool-hub/runtime/records/log'
import type { SharedHead, StoredSegment } from '../store/types.ts'
import { ObjectBucket } from './bucket.ts'
import { type CopyDivergence, LocalCopy } from './local-copy.ts'
import { readSealed } from './sealer.ts'
import { type SharedSource, segmentLines, sharedSegments } from './shared-lines.ts'

export { findMove } from './local-copy.ts'

/** What shared records are compared with. */
export interface SharedCheckOptions {
  readonly source: SharedSource
  /** The heads that the store keeps of every opening of a run. */
  readonly heads: Pick<HeadStore, 'list'>
  /** Whether a live process has the run open. Default: none has. */
  readonly isOpen?: (run: string) => boolean | Promise<boolean>
  /** Runs that ended before this have their records on one machine. Default: there are none. */
  readonly sharedSince?: number
  /** The folder of runs on this machine: its copies must be the same as far as they go. Default: none is compared. */
  readonly root?: string | false
}

/** Opens a check of everything in a store that is shared. */
export async function openSharedCheck(
  store: Pick<Store, 'segments' | 'heads' | 'runStates' | 'processes' | 'documents'>,
  {
    root,
    bucket,
    source,
  }: { readonly root?: string | false; readonly bucket?: BucketOptions; readonly source?: SharedSource },
): Promise<SharedCheck> {
  const alive = new Set((await store.processes.list()).flatMap(({ id, isAlive }) => (isAlive ? [id] : [])))
  return SharedCheck.open({
    source: source ?? sharedSource(store, bucket),
    heads: store.heads,
    sharedSince: await readSharedSince(store.documents),
    root,
    isOpen: async (run) => alive.has((await store.runStates.find(run))?.owner ?? ''),
  })
}

/** Where the records in a store, and in the bucket of its hub, are read from. */
export function sharedSource(store: Pick<Store, 'segments'>, bucket: BucketOptions | undefined): SharedSource {
  const objects = bucket && new ObjectBucket(bucket)
  return { segments: store.segments, ...(objects && { readObject: (name) => readSealed(objects, name) }) }
}

const SHARED_SINCE = 'records/shared-since'

/** Notes that a store of one machine was copied to a shared one: the records of its runs stay on that machine. */
export async function noteSharedSince(documents: DocumentStore, at: number): Promise<void> {
  // The first copy counts: the store is empty before it.
  await documents.write(SHARED_SINCE, JSON.stringify(at), 0)
}

async function readSharedSince(documents: Pick<DocumentStore, 'read'>): Promise<number | undefined> {
  const at = parseJson((await documents.read(SHARED_SINCE))?.body ?? '')
  return typeof at === 'number' ? at : undefined
}

/**
 * Verifies the shared records of all runs without their files: finds lines that were changed, removed, inserted or moved, a
 * forged segment, two chains of one run, a copy on this machine that differs, and a run that vanished.
 */
export class SharedCheck {
  readonly #options: SharedCheckOptions
  readonly #shared: ReadonlyMap<string, SharedHead>
  readonly #stored: ReadonlyMap<string, readonly StoredHead[]>

  private constructor(
    options: SharedCheckOptions,
    shared: ReadonlyMap<string, SharedHead>,
    stored: ReadonlyMap<string, readonly StoredHead[]>,
  ) {
    this.#options = options
    this.#shared = shared
    this.#stored = stored
  }

  /** Reads what is known about the runs; before their segments, because open runs only get longer. */
  static async open(options: SharedCheckOptions): Promise<SharedCheck> {
    const stored = new Map<string, StoredHead[]>()
    for (const head of await options.heads.list()) stored.set(head.run, [...(stored.get(head.run) ?? []), head])
    const shared = new Map((await options.source.segments.heads()).map((head) => [head.run, head]))
    return new SharedCheck(options, shared, stored)
  }

  /** The runs with a shared record, and those that should have one. */
  runs(): string[] {
    return [...new Set([...this.#shared.keys(), ...this.missing()])].sort()
  }

  /** The runs that the store has heads of and no shared record, that nobody has removed, and that should be shared. */
  missing(): string[] {
    const { sharedSince = 0 } = this.#options
    return [...this.#stored].flatMap(([run, heads]) => {
      const isRemoved = heads.some(({ removedBy }) => removedBy !== undefined)
      const isOlder = heads.every(({ at }) => at < sharedSince)
      return isRemoved || isOlder || this.#shared.has(run) ? [] : [run]
    })
  }

  /** Verifies the shared record of a run. */
  async verify(run: string): Promise<VerifyReport> {
    const findings = new AuditFindings()
    const head = this.#shared.get(run)
    const known = this.#known(run)
    const chain = new ChainCheck(findings, { run, head: undefined, known })
    const { root } = this.#options
    const local = root ? await LocalCopy.open(join(root, run, 'events.jsonl')) : undefined
    try {
      const unshared = head ? undefined : await local?.lastUnshared()
      if (unshared !== undefined && this.#stored.has(run)) {
        findings.remark('the run is on this machine and is not shared; audit verify without --shared verifies it', 0)
        return await this.#report(run, chain, findings)
      }
      await this.#readSegments(run, { chain, findings, local })
      this.#checkEnd(chain, findings, known)
      const last = await local?.lastUnshared()
      if (last !== undefined)
        findings.remark(`this machine has lines up to event ${last}, which are not shared yet`, chain.last.seq)
      return await this.#report(run, chain, findings)
    } finally {
      await local?.close()
    }
  }

  async #readSegments(
    run: string,
    {
      chain,
      findings,
      local,
    }: { readonly chain: ChainCheck; readonly findings: AuditFindings; readonly local: LocalCopy | undefined },
  ): Promise<void> {
    let before: StoredSegment | undefined
    let bytes = 0
    try {
      for await (const { segment, content } of sharedSegments(this.#options.source, run)) {
        checkPlace(segment, before, findings)
        before = segment
        for (const line of segmentLines(content)) {
          bytes += line.length + 1
          chain.add({ bytes: line, end: bytes })
          const divergence = await local?.compare({ bytes: line, epoch: segment.epoch })
          if (divergence) this.#checkDivergence(run, divergence, { chain, findings })
        }
        const { seq, hash } = chain.last
        if (seq !== segment.last || hash !== segment.hash)
          findings.report(
            `the segment of events ${segment.first} to ${segment.last} does not end in the line that it names`,
            { seq },
          )
      }
    } catch (error) {
      // An object that is missing or was changed: the lines before it are verified.
      findings.report(messageOf(error), { seq: chain.last.seq })
    }
  }

  #checkDivergence(
    run: string,
    { seq, lastTime, reason }: CopyDivergence,
    { chain, findings }: { readonly chain: ChainCheck; readonly findings: AuditFindings },
  ): void {
    const { sharedSince = 0 } = this.#options
    const wasRemoved = this.#stored.get(run)?.some(({ removedBy }) => removedBy !== undefined) === true
    const other = `this machine has other lines from event ${seq} on`
    if (reason === 'moved') findings.remark(`${other}, which it wrote as it lost the run`, seq)
    else if (seq === 1 && wasRemoved) findings.remark(`${other}: of the run of this name that was removed`, seq)
    else if (reason === 'unleased' && Date.parse(lastTime) < sharedSince)
      findings.remark(`${other}, which it wrote before the hub shared its records`, seq)
    else chain.report(`is not the line that the copy on this machine names as event ${seq}`, seq)
  }

  #checkEnd(chain: ChainCheck, findings: AuditFindings, known: readonly KnownHead[]): void {
    const { seq } = chain.last
    if (chain.lines === 0) findings.report('the shared record is gone', { seq })
    for (const { seq: named, source } of known)
      if (named > seq) findings.report(`lines were removed at the end: ${source} names event ${named}`, { seq })
  }

  #known(run: string): KnownHead[] {
    const head = this.#shared.get(run)
    const { sharedSince = 0 } = this.#options
    // A head that is older is of a record that may be on one machine only, as those of runs that are not shared at all.
    const isKept = ({ removedBy, seq, at }: StoredHead) => removedBy === undefined && seq > 0 && at >= sharedSince
    const kept = (this.#stored.get(run) ?? []).filter(isKept)
    return [
      ...(head ? [{ ...head, source: 'the shared head' }] : []),
      ...kept.map(({ seq, hash }) => ({ seq, hash, source: 'the store' })),
    ]
  }

  async #report(run: string, chain: ChainCheck, findings: AuditFindings): Promise<VerifyReport> {
    const isOpen = (await this.#options.isOpen?.(run)) ?? false
    const { lines, calls, interrupted, last } = chain
    const { problems, remarks } = findings
    const isClosed = last.type === 'run-closed'
    const state = problems.length > 0 ? 'broken' : isOpen ? 'open' : isClosed ? 'intact' : 'unproven'
    if (state === 'unproven' && lines > 0)
      findings.remark(
        'the run was not closed: a process that was killed leaves it so, and so does who removes its end',
        last.seq,
      )
    return { ok: state === 'intact' || state === 'open', run, state, lines, calls, interrupted, problems, remarks }
  }
}

function checkPlace(
  { first, last, epoch }: StoredSegment,
  before: StoredSegment | undefined,
  findings: AuditFindings,
): void {
  const expected = (before?.last ?? 0) + 1
  const seq = first
  if (first < expected)
    findings.report(
      `there are two chains: events ${first} to ${last} are shared twice, in epochs ${before?.epoch} and ${epoch}`,
      { seq },
    )
  else if (first > expected) findings.report(`events ${expected} to ${first - 1} are missing`, { seq })
  if (before && epoch < before.epoch)
    findings.report(
      `events ${first} to ${last} are of epoch ${epoch} and follow epoch ${before.epoch}: a process wrote them that had lost the run`,
      { seq },
    )
}
