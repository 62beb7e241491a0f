import { join } from 'node:path'
import { assertRunId, type Store, ToolError } from '@tool-hub/core'
import type { Later } from '@tool-hub/core/lib'
import {
  assertOwner,
  type OwnedRun,
  type RunOwner,
  type RunOwnership,
  type RunRemoval,
  type RunRetention,
  runOwner,
} from '@tool-hub/runtime/hub'
import { readHead } from '@tool-hub/runtime/records/log'
import { statsIfThere } from '@tool-hub/sandbox/system'
import type { SharedRecordAccess, SharedRecords } from '../records/index.ts'
import type { ClusterMember } from './cluster-member.ts'

/** What the ownership of runs needs. */
interface OwnershipOptions {
  readonly member: ClusterMember
  readonly store: Pick<Store, 'heads' | 'processes' | 'runStates'>
  /** Folder of the records on this machine; `false` if there are none. */
  readonly runsFolder: string | false
  /** The records that all processes share; `undefined` if there are none. */
  readonly shared: (SharedRecordAccess & { readonly records: Later<SharedRecords> }) | undefined
}

/** How long a run is left to its own machine, whose files may have lines that were not shared. */
const OWN_MACHINE_MS = 60_000

/** Runs are leased to the processes that share the store: the process with the lease executes the calls of a run. */
export function createOwnership(options: OwnershipOptions): RunOwnership {
  const { member, store } = options
  return {
    process: member.id,
    open: (run, owner) => leaseRun(run, owner, options),
    find: (run) => store.runStates.find(run),
    orphans: () => findOrphans(options),
    onLost(listener) {
      member.onCut(() => listener({ error: member.cutOff() }))
      member.onMoved((run) => listener({ run, error: member.moved(run) }))
    },
  }
}

/** A run is removed by a process that has leased it, from the records that all share, too. */
export function createRetention(options: OwnershipOptions): RunRetention {
  return {
    recorded: async () => new Set((await options.shared?.source.segments.heads())?.map(({ run }) => run)),
    take: (run) => leaseToRemove(run, options),
  }
}

/** Leases a run to this process. Throws NOT_FOUND if it is of another principal, RUN_ELSEWHERE if another process has it. */
async function leaseRun(
  id: string,
  owner: RunOwner | undefined,
  { member, store, runsFolder, shared }: OwnershipOptions,
): Promise<OwnedRun> {
  const { heads, runStates } = store
  assertRunId(id)
  const known = runsFolder === false ? undefined : runOwner(runsFolder, id)
  if (owner && known) assertOwner(id, known.principal, owner.principal)
  const state = await member.lease(id, owner?.principal ?? known?.principal)
  const lease = member.leaseOf(id)
  try {
    if (owner) assertOwner(id, state.principal, owner.principal)
    if (state.owner !== member.id || !lease) throw member.elsewhere(state)
    const shipment =
      shared && runsFolder !== false ? await (await shared.records.get()).prepare(runsFolder, id, lease) : undefined
    // Others may have taken the run while its record was brought here.
    member.assertHolds(id)
    const isHeld = () => !member.isCut && member.leaseOf(id) === lease
    return {
      state,
      hold: {
        held: { run: id, ...lease },
        assertHeld: () => member.assertHolds(id),
        // A new intent that is shared asks the store, too: it refuses lines if the run has moved.
        confirm: (isAsked) => (isAsked ? undefined : member.confirm(id)),
      },
      taint: {
        save: async (sources) => {
          if (!(await runStates.taint(id, sources, lease))) member.lose(id)
          member.assertHolds(id)
        },
      },
      records: {
        // The head of a run that another process continues would contradict its record.
        heads: { put: (head, continues) => (isHeld() ? heads.put(head, continues) : undefined) },
        shipment,
      },
      giveUp: () => member.giveBack(id),
      release() {
        shared?.records.made?.closed(id)
        return member.release(id)
      },
    }
  } catch (error) {
    await member.giveBack(id)
    throw error
  }
}

/**
 * Finds leased runs whose process has ended, on whatever machine, so that their calls get an end although nobody uses the
 * run again: those with files here as soon as possible.
 */
async function findOrphans({ store, runsFolder }: OwnershipOptions): Promise<readonly string[]> {
  const processes = new Map((await store.processes.list()).map((process) => [process.id, process]))
  // By the clock of the database, which all heartbeats have.
  const now = Math.max(0, ...Array.from(processes.values(), ({ seenAt }) => seenAt))
  const isHere = (run: string) => runsFolder !== false && statsIfThere(join(runsFolder, run)) !== undefined
  const orphans = (await store.runStates.leases()).filter(({ run, owner = '' }) => {
    const { isAlive = false, seenAt = 0 } = processes.get(owner) ?? {}
    return !isAlive && (now - seenAt > OWN_MACHINE_MS || isHere(run))
  })
  return orphans.map(({ run }) => run)
}

/** No other process can open the run until it is removed. Throws CONFLICT if one has it open, on whatever machine. */
async function leaseToRemove(run: string, options: OwnershipOptions): Promise<RunRemoval> {
  const { member, store, shared } = options
  try {
    const { owner } = await member.lease(run, undefined)
    if (owner !== member.id)
      throw new ToolError('CONFLICT', `Run ${run} is open in process ${owner}.`, {
        hint: 'End the run there first, or wait until it is closed.',
      })
    await assertLastHere(run, options)
  } catch (error) {
    await member.giveBack(run)
    throw error
  }
  return {
    cancel: () => member.giveBack(run),
    async finish() {
      try {
        await shared?.remove(run)
        await store.runStates.remove(run)
      } finally {
        await member.release(run)
      }
    },
  }
}

/** Throws CONFLICT if the run continued on another machine, which removes it there. */
async function assertLastHere(run: string, { shared, runsFolder }: OwnershipOptions): Promise<void> {
  if (!shared || runsFolder === false) return
  const [last] = await shared.source.segments.heads({ run })
  const found = await readHead(join(runsFolder, run))
  if (!last || (found && found !== 'broken' && found.seq === last.seq && found.hash === last.hash)) return
  throw new ToolError('CONFLICT', `Run ${run} was continued on another machine, or was not closed here.`, {
    hint: 'Remove it there; this machine keeps its copy until then.',
  })
}
