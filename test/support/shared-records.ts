import { join } from 'node:path'
import type { Store } from '@tool-hub/core'
import { systemClock } from '@tool-hub/core'
import { continueRecord } from '../../packages/cluster/src/records/continue-record.ts'
import type { SharedSource } from '../../packages/cluster/src/records/shared-lines.ts'
import { Shipper } from '../../packages/cluster/src/records/shipper.ts'
import type { SegmentStore } from '../../packages/cluster/src/store/types.ts'
import { RunRecords } from '../../packages/runtime/src/records/log/run-records.ts'

/** A process with a folder of runs of its own, which shares a store with others. */
export interface Machine {
  readonly id: string
  readonly root: string
  readonly shipper: Shipper
  readonly moved: string[]
  /** The segments as this machine reaches them; replace its methods for a store that fails. */
  readonly segments: { append: SegmentStore['append']; heads: SegmentStore['heads']; read: SegmentStore['read'] }
  /** Leases the run, brings its record up to date and opens it. */
  open(run: string): Promise<RunRecords>
  /** Ends its heartbeats: its runs are free. */
  end(): Promise<void>
}

/** Makes a machine. Its heartbeat never expires by itself within a test. */
export async function newMachine(
  store: Store,
  root: string,
  id: string,
  options: { readonly source?: Partial<SharedSource>; readonly clock?: typeof systemClock } = {},
): Promise<Machine> {
  const { clock = systemClock } = options
  const process = {
    kind: 'service' as const,
    host: id,
    pid: 1,
    version: '1',
    labels: [],
    running: 0,
    isDraining: false,
  }
  await store.processes.beat({ ...process, id, startedAt: 1 })
  const moved: string[] = []
  const segments = { ...store.segments }
  const shipper = new Shipper({
    segments: { append: (batch) => segments.append(batch), heads: (filter) => segments.heads(filter) },
    clock,
    onMoved: (run) => moved.push(run),
  })
  return {
    id,
    root,
    shipper,
    moved,
    segments,
    async open(run) {
      const { owner, epoch } = await store.runStates.lease(run, { owner: id })
      if (owner !== id) throw new Error(`Run ${run} is leased to ${owner}.`)
      const position = await continueRecord(join(root, run), run, { segments, ...options.source })
      const shipment = shipper.shipment(run, { held: { owner: id, epoch }, position })
      return RunRecords.open(root, run, { durability: 'shared', clock, heads: store.heads, shipment })
    },
    end: async () => store.processes.remove(id),
  }
}

/** All shared lines of a run, as one text. */
export async function sharedText(store: Store, run: string): Promise<string> {
  return (await store.segments.read(run, { from: 1, limit: 1_000 })).map(({ lines }) => lines).join('')
}
