import { type Clock, type Store, ToolError } from '../../core/index.ts'
import { type Hub, pruneRun } from '../../hub/index.ts'

/** What it takes to remove a run that somebody chose. */
export interface RemoveEndedRunOptions {
  readonly hub: Pick<Hub, 'run' | 'endRun' | 'recordChange'>
  readonly store: Pick<Store, 'calls' | 'heads' | 'approvals' | 'sessions'>
  readonly runsFolder: string
  readonly clock: Clock
  readonly by: string
}

const MAX_WAITING = 1_000

/** Removes a run that has ended, as retention does: on record, so that its removal can be proven. */
export async function removeEndedRun(run: string, options: RemoveEndedRunOptions): Promise<void> {
  const { hub, store, runsFolder, clock, by } = options
  const [busy, hint] = (await whatRuns(run, options)) ?? []
  if (busy !== undefined) throw new ToolError('CONFLICT', `Run ${run} was not removed. ${busy}`, { hint: hint! })
  const kept = await pruneRun(run, {
    runsFolder,
    store,
    by,
    now: clock.now(),
    record: (change) => hub.recordChange(change),
    end: (id) => hub.endRun(id),
  })
  if (kept === undefined) return
  throw new ToolError('CONFLICT', `Run ${run} was not removed. ${kept}`, {
    hint: 'A run that another process has open, or whose record does not verify, is kept.',
  })
}

async function whatRuns(
  run: string,
  { hub, store }: RemoveEndedRunOptions,
): Promise<readonly [problem: string, hint: string] | undefined> {
  if (run === hub.run) return ['The service records its own changes in it.', 'It ends with the service.']
  const [call] = await store.calls.calls({ run, status: 'running', limit: 1 })
  if (call) return [`${call.tool} is running in it.`, 'Wait until the call ends.']
  const waiting = await store.approvals.list({ state: 'waiting', limit: MAX_WAITING })
  if (waiting.some((ask) => ask.run === run)) return ['A call of it waits for a person.', 'Answer that first.']
  const session = await store.sessions.find(run)
  if (session?.runner === undefined || session.state !== 'running') return undefined
  return ['Its session is running.', 'End the session first.']
}
