import { existsSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { loadSharedCheck } from '@tool-hub/cluster'
import { type HeadStore, ToolError } from '@tool-hub/core'
import { escapeLine } from '@tool-hub/core/lib'
import { FolderCheck, listRuns, type VerifyReport } from '@tool-hub/runtime/records/log'
import type { Command } from 'commander'
import { EXIT } from '../exit.ts'
import { readCliConfig } from '../hub/config.ts'
import { findRun, runsFolder } from '../hub/find-run.ts'
import { addConfigOption } from '../input/options.ts'
import { countNoun } from '../output/layout.ts'
import { print, printJsonLine, say, style } from '../output/print.ts'

const EXAMPLES = `
Each run is one of these:
  intact          nothing was changed, and its last line is proven: by head.json, and by the store if the hub has one
  open            the same so far; a running process is writing it
  moved           the same as far as this machine has it; a process elsewhere has continued it
  end not proven  nothing was changed in what is there, but nothing proves that this is all: it was not closed (a crash,
                  or somebody removed the end), or the store does not know its last line
  BROKEN          lines were changed, removed, inserted or moved, or a run that the store or the next run names is gone

Exit code: 0 if all runs are intact, open or moved, with --strict only if all are intact; else 1.
A run that a crash left open is closed when tool-hub serve starts, or by its next call.

Examples:
  tool-hub audit verify
  tool-hub audit verify --strict
  tool-hub audit verify --shared
  tool-hub audit verify run-20261115-093000-1a2b3c4d --json`

/** Progress is reported on stderr each time that so many runs were verified. */
const RUNS_PER_MESSAGE = 1_000

/** `audit`: are the records what was written? */
export function describeAudit(command: Command): void {
  command.description('Verify that no record was changed.')
  addConfigOption(command.command('verify'))
    .summary('Verify the hash chain of one run or all')
    .description(
      'Verify the hash chain of one run or of all runs: every line is as it was written, none is missing or moved, and no run is gone.',
    )
    .argument('[run]', 'Id of the run or the beginning of it. Default: all runs')
    .option('--strict', 'Also fail for runs whose end is not proven, including open ones')
    .option('--shared', 'Verify the records that all machines share, without their files; needs store in the config')
    .addHelpText('after', EXAMPLES)
    .action(verify)
}

interface Flags {
  readonly config?: string
  readonly json?: boolean
  readonly strict?: boolean
  readonly shared?: boolean
}

async function verify(run: string | undefined, flags: Flags): Promise<void> {
  const root = await runsFolder(flags)
  const show = async (report: VerifyReport) => {
    if (!report.ok || (flags.strict && report.state !== 'intact')) process.exitCode = EXIT.failed
    await (flags.json ? printJsonLine(report) : print(describe(report)))
  }
  if (flags.shared) return verifyShared(run, flags, { root, show })
  await withHeads(flags, root, async (heads, { runs: elsewhere, findMove }) => {
    const check = await FolderCheck.open(root, heads, new Map(), (id) => elsewhere.has(id), findMove)
    if (run !== undefined) return show(await check.verify(basename(await findRun(root, run))))
    const runs = await listRuns(root)
    const missing = check.missing()
    if (runs.length + missing.length === 0) say(`There are no runs in ${root}.`)
    let verified = 0
    for await (const report of check.verifyAll(runs.map(({ id }) => id))) {
      await show(report)
      verified++
      if (verified % RUNS_PER_MESSAGE === 0) say(`${verified} of ${countNoun(runs.length, 'run')} verified.`)
    }
    for (const report of missing) await show(report)
  })
}

/** Verifies the records in the store and the bucket; the copies of this machine are compared with them. */
async function verifyShared(
  run: string | undefined,
  flags: Flags,
  { root, show }: { readonly root: string; readonly show: (report: VerifyReport) => Promise<void> },
): Promise<void> {
  const { options } = await readCliConfig({ ...flags, plugins: false })
  if (!options.database)
    throw new ToolError('CONFIG_INVALID', 'The records of this hub are on this machine only.', {
      fix: { key: 'store', hint: 'Leave out --shared, or set store to the PostgreSQL database of the hub.' },
    })
  const { openStoreOf } = await import('@tool-hub/library/stores')
  const { openSharedCheck } = await loadSharedCheck()
  const store = openStoreOf(options)
  try {
    const check = await openSharedCheck(store, { root, bucket: options.records?.bucket })
    const runs = run === undefined ? check.runs() : check.runs().filter((id) => id.startsWith(run))
    if (runs.length === 0) say(run === undefined ? 'There are no shared records.' : `Shared run ${run} not found.`)
    if (runs.length === 0 && run !== undefined) process.exitCode = EXIT.failed
    for (const [index, id] of runs.entries()) {
      await show(await check.verify(id))
      if ((index + 1) % RUNS_PER_MESSAGE === 0) say(`${index + 1} of ${countNoun(runs.length, 'run')} verified.`)
    }
  } finally {
    await store.close()
  }
}

/** The runs that are shared with other machines, and how they moved. */
interface SharedRuns {
  readonly runs: ReadonlySet<string>
  readonly findMove?: (run: string) => Promise<string | undefined>
}

/** The heads of the data folder's store. Looking makes no file: a store that is not there knows of no run. */
async function withHeads(
  flags: Flags,
  root: string,
  use: (heads: Pick<HeadStore, 'list'>, shared: SharedRuns) => Promise<void>,
): Promise<void> {
  const { options } = await readCliConfig({ ...flags, plugins: false })
  const file = join(resolve(options.data ?? '.tool-hub'), 'store.db')
  if (!options.database && !existsSync(file)) return use({ list: () => [] }, { runs: new Set() })
  const { openStoreOf } = await import('@tool-hub/library/stores')
  const store = openStoreOf(options)
  try {
    const runs = new Set((await store.segments.heads()).map(({ run }) => run))
    if (runs.size === 0) return await use(store.heads, { runs })
    const { findMove, sharedSource } = await loadSharedCheck()
    const source = sharedSource(store, options.records?.bucket)
    const findMoveOf = async (run: string) => (runs.has(run) ? findMove(source, root, run) : undefined)
    await use(store.heads, { runs, findMove: findMoveOf })
  } finally {
    await store.close()
  }
}

const MARKS = {
  intact: style('green', 'intact'),
  open: style('green', 'open'),
  moved: style('green', 'moved'),
  unproven: style('yellow', 'end not proven'),
  broken: style(['red', 'bold'], 'BROKEN'),
}

function describe({ state, run, lines, calls, interrupted, problems, remarks }: VerifyReport): string {
  const counts = `${countNoun(lines, 'line')}, ${countNoun(calls, 'call')}${interrupted > 0 ? `, ${interrupted} interrupted` : ''}`
  // A remark is not a problem: a torn last line, or why an end is not proven.
  const found = [...problems, ...remarks].map(({ problem }) => `  ${escapeLine(problem)}`)
  return [`${MARKS[state]}  ${escapeLine(run)}  ${counts}`, ...found].join('\n')
}
