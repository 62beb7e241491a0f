import { statSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { isRunId, ToolError } from '@tool-hub/core'
import { errnoOf } from '@tool-hub/core/lib'
import { isLocked } from '@tool-hub/sandbox/system'
import { hasFailed } from './call-log.ts'
import { diskError } from './disk-error.ts'
import { inspectLine, type LineFacts } from './event-line.ts'
import { type Head, peekHead } from './head.ts'
import { type Line, readRecordLines } from './lines.ts'
import { parseEvent } from './read-events.ts'

/** A run in a list. */
export interface RunInfo {
  readonly id: string
  readonly state: 'open' | 'closed' | 'crashed'
  readonly started: string
  /** When it was closed, or its last event. */
  readonly ended: string
  readonly calls: number
  readonly failures: number
}

/** Other work gets its turn after this time. */
const TURN_MS = 5

/** Lists the runs below a folder, oldest first. Closed ones have a head; only the others are read. */
export async function listRuns(root: string): Promise<RunInfo[]> {
  const runs: RunInfo[] = []
  await lookAtRuns(await runNames(root), (id) => {
    const run = infoOf(join(root, id), id)
    if (run instanceof Promise) return run.then((read) => void (read && runs.push(read)))
    if (run) runs.push(run)
    return undefined
  })
  return runs.sort((a, b) => (a.started < b.started ? -1 : a.started > b.started ? 1 : 0))
}

/** Returns the names of the run folders below a folder; none if the folder does not exist. */
export async function runNames(root: string): Promise<string[]> {
  try {
    const entries = await readdir(root, { withFileTypes: true })
    return entries.filter((entry) => entry.isDirectory() && isRunId(entry.name)).map((entry) => entry.name)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return []
    throw diskError('The run records cannot be listed', root, error)
  }
}

/**
 * Looks at one run after the other. There may be 100,000, so a look at a closed run uses synchronous calls: 15 us instead
 * of 330 us (measured), with a turn for other work every few milliseconds.
 */
export async function lookAtRuns<Run>(
  runs: Iterable<Run>,
  look: (run: Run) => Promise<void> | undefined | void,
): Promise<void> {
  let since = performance.now()
  for (const run of runs) {
    const looking = look(run)
    if (looking) await looking
    else if (performance.now() - since < TURN_MS) continue
    else await setImmediate()
    since = performance.now()
  }
}

/** Returns `undefined` for a folder that is not a run: it has no events, or a link or a pipe in their place. */
function infoOf(folder: string, id: string): RunInfo | undefined | Promise<RunInfo | undefined> {
  try {
    const size = statSync(join(folder, 'events.jsonl'), { throwIfNoEntry: false })?.size
    if (size === undefined) return undefined
    const found = peekHead(folder)
    const head = found === 'broken' || (found && found.bytes > size) ? undefined : found
    if (head?.bytes === size) return { id, state: 'closed', ...fieldsOf(head) }
    return readInfo(folder, id, head)
  } catch (error) {
    return leaveOut(folder, id, error)
  }
}

async function readInfo(folder: string, id: string, head: Head | undefined): Promise<RunInfo | undefined> {
  try {
    const state = (await isLocked(join(folder, 'lock'))) ? 'open' : 'crashed'
    return { id, state, ...(await count(folder, head)) }
  } catch (error) {
    return leaveOut(folder, id, error)
  }
}

/** Removed in the meantime, or not a regular file. Throws any other error. */
function leaveOut(folder: string, id: string, error: unknown): undefined {
  if (ToolError.is(error) || errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return undefined
  throw diskError(`Run ${id} cannot be read`, folder, error)
}

type Counts = Pick<RunInfo, 'started' | 'ended' | 'calls' | 'failures'>

function fieldsOf({ started, ended, calls, failures }: Counts): Counts {
  return { started, ended, calls, failures }
}

/** Reads from where the head, if there is one, stopped. */
async function count(folder: string, head: Head | undefined): Promise<Counts> {
  let { started, ended, calls, failures } = head ?? { started: '', ended: '', calls: 0, failures: 0 }
  for await (const lines of readRecordLines(join(folder, 'events.jsonl'), head?.bytes)) {
    for (const line of lines) {
      const facts = inspectLine(line.bytes)
      if (!facts) continue
      started ||= facts.time
      ended = facts.time
      if (facts.type !== 'call-ended' && facts.type !== 'call-interrupted') continue
      calls++
      if (isFailure(facts, line)) failures++
    }
  }
  return { started, ended, calls, failures }
}

function isFailure(facts: LineFacts, line: Line): boolean {
  if (facts.type === 'call-interrupted') return true
  const event = parseEvent(line)
  return event?.type === 'call-ended' && hasFailed(event.status)
}
