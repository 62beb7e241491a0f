import { closeSync, constants, fstatSync, openSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { HeadStore, StoredHead } from '@tool-hub/core'
import { bodyOf, inspectLine } from './event-line.ts'
import { asRunHead, readLastHead } from './head.ts'
import { type Line, readLinesSync } from './lines.ts'
import { lookAtRuns, runNames } from './list-runs.ts'
import type { KnownHead } from './record-check.ts'
import type { RunHead, RunOpened } from './run-events.ts'
import { type VerifyReport, verifyRun } from './verify-run.ts'
import { VerifyThreads } from './verify-threads.ts'

/** The head of the run before, or that there was none, as the first line of a run says. By folder of the run. */
export type FirstLines = Map<string, RunHead | 'none'>

/** A first line has a few hundred. */
const FIRST_LINE_BYTES = 4_096

/** Says how a run moved on to another process; `undefined` if it did not. */
type FindMove = (run: string) => Promise<string | undefined>

/** Where the heads of runs are looked up. */
type KeptHeads = Pick<HeadStore, 'list'>

/** Compares the runs below a folder with what the store, later runs and `last-head.json` say about them. */
export class FolderCheck {
  readonly #root: string
  readonly #store: KeptHeads | undefined
  readonly #names: ReadonlySet<string>
  readonly #known: ReadonlyMap<string, readonly KnownHead[]>
  readonly #problem: string | undefined
  readonly #findMove: FindMove | undefined

  private constructor(
    root: string,
    found: {
      readonly store: KeptHeads | undefined
      readonly names: ReadonlySet<string>
      readonly known: ReadonlyMap<string, readonly KnownHead[]>
      readonly problem: string | undefined
      readonly findMove: FindMove | undefined
    },
  ) {
    this.#root = root
    this.#store = found.store
    this.#names = found.names
    this.#known = found.known
    this.#problem = found.problem
    this.#findMove = found.findMove
  }

  /**
   * Reads what is known about the runs. `firstLines` caches the first lines: a first line never changes, and one
   * that was changed is found when its own run is verified. Runs that are `isElsewhere` are shared with other machines,
   * where they may be longer: `SharedCheck` verifies them, and only lines that this machine has are compared. `findMove`
   * says how such a run moved.
   */
  static async open(
    root: string,
    store: KeptHeads | undefined,
    firstLines: FirstLines = new Map(),
    isElsewhere: (run: string) => boolean = () => false,
    findMove?: FindMove,
  ): Promise<FolderCheck> {
    // Before the runs are read: open ones only get longer.
    const stored = (await store?.list()) ?? []
    const folder = resolve(root)
    const last = await readLastHead(folder)
    const names = new Set(await runNames(folder))
    const known = new Map<string, KnownHead[]>()
    const add = ({ run, seq, hash }: RunHead, source: string) =>
      known.set(run, [...(known.get(run) ?? []), { seq, hash, source }])
    const removed = new Set(stored.flatMap((head) => (head.removedBy === undefined ? [] : [head.run])))
    for (const head of stored) if (head.removedBy === undefined) add(head, 'the store')
    if (last && last !== 'broken' && !removed.has(last.run)) add(last, 'last-head.json')
    await lookAtRuns(names, (run) => {
      const path = join(folder, run)
      const head = firstLines.get(path) ?? headBefore(path)
      if (head) firstLines.set(path, head)
      if (head && head !== 'none' && !removed.has(head.run)) add(head, `the first line of run ${run}`)
    })
    for (const run of known.keys()) if (isElsewhere(run)) known.delete(run)
    const problem = last === 'broken' ? 'last-head.json cannot be read as we wrote it' : undefined
    return new FolderCheck(folder, { store, names, known, problem, findMove })
  }

  /** Verifies the record of one run, also against what is known about it elsewhere. */
  async verify(run: string): Promise<VerifyReport> {
    if (!this.#names.has(run)) return this.#gone(run)
    const lastInStore = this.#lastInStore()
    return verifyRun(join(this.#root, run), {
      known: this.#known.get(run) ?? [],
      lastInStore: lastInStore && (() => lastInStore(run)),
      findMove: async () => this.#findMove?.(run),
    })
  }

  /** Verifies many runs on all cores. Yields their reports in the order of the runs. */
  async *verifyAll(runs: readonly string[]): AsyncGenerator<VerifyReport> {
    const threads = new VerifyThreads({
      root: this.#root,
      runs,
      known: (run) => this.#known.get(run) ?? [],
      lastInStore: this.#lastInStore(),
    })
    try {
      for (const [index, run] of runs.entries()) {
        const report = this.#names.has(run) ? await threads.report(index) : undefined
        const mayHaveMoved = report?.state === 'unproven' && this.#findMove !== undefined
        yield report && !mayHaveMoved ? report : await this.verify(run)
      }
    } finally {
      await threads.close()
    }
  }

  #lastInStore(): ((run: string) => Promise<number>) | undefined {
    const store = this.#store
    return store && (async (run) => lastOf(await store.list({ run })))
  }

  /** Returns a report for every known run that is missing, and for problems of the folder itself. */
  missing(): VerifyReport[] {
    const reports = [...this.#known.keys()].filter((run) => !this.#names.has(run)).map((run) => this.#gone(run))
    return this.#problem === undefined ? reports : [...reports, broken('last-head.json', this.#problem, 0)]
  }

  #gone(run: string): VerifyReport {
    const [first] = (this.#known.get(run) ?? []).toSorted((a, b) => b.seq - a.seq)
    if (!first) return broken(run, 'the run does not exist', 0)
    return broken(run, `the run is gone: ${first.source} names its event ${first.seq}`, first.seq)
  }
}

function broken(run: string, problem: string, seq: number): VerifyReport {
  const problems = [{ line: 0, seq, problem }]
  return { ok: false, run, state: 'broken', lines: 0, calls: 0, interrupted: 0, problems, remarks: [] }
}

function lastOf(heads: readonly StoredHead[]): number {
  return Math.max(0, ...heads.filter(({ removedBy }) => removedBy === undefined).map(({ seq }) => seq))
}

/** Returns the head that the first line of a run names. Unreadable lines are found when that run is verified. */
function headBefore(folder: string): RunHead | 'none' | undefined {
  try {
    const line = firstLine(join(folder, 'events.jsonl'))
    if (!line) return undefined
    const facts = inspectLine(line.bytes)
    if (!facts?.intact || facts.type !== 'run-opened') return undefined
    return asRunHead((JSON.parse(bodyOf(line.bytes)) as RunOpened).after) ?? 'none'
  } catch {
    // A link, a missing file or a line that is not JSON: the report of that run names it.
    return undefined
  }
}

function firstLine(path: string): Line | undefined {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    if (!fstatSync(descriptor).isFile()) return undefined
    const [line] = readLinesSync(descriptor, 0, FIRST_LINE_BYTES)
    return line
  } finally {
    closeSync(descriptor)
  }
}
