import { type ConfigDocument, configError, sortedLabels } from '@tool-hub/core'
import {
  duration,
  fillAt,
  key,
  type LogOptions,
  logSchema,
  parseDuration,
  text,
  toLog,
  withoutUndefined,
} from '@tool-hub/core/config'
import { z } from 'zod'

/** `cluster`: how the other processes of a hub on many machines reach this one. */
const clusterSchema = z.strictObject({
  listen: key(
    text,
    'Address and port to listen on for other processes, which sign their requests: 10.0.0.7:4041. Anything but loopback needs address. Default: any free port of loopback.',
  ),
  address: key(
    text,
    'URL at which other processes reach it, without a path: http://10.0.0.7:4041. Default: where it listens. Both may contain ${env:NAME}: http://${env:HOSTNAME}:4041.',
  ),
})

/** `worker`: which calls of other processes `tool-hub worker` executes. */
const workerSchema = z.strictObject({
  labels: key(
    z
      .array(text)
      .refine(
        (labels) => sortedLabels(labels) !== undefined,
        'use at most 8 labels of lower-case letters, digits and -.',
      ),
    'Labels of the worker: it executes calls whose tool or rule names some of them, or none.',
    [],
  ),
  concurrency: key(z.int().min(1).max(1_000), 'How many calls it executes concurrently.', 4),
  drain: key(duration, 'How long running calls may continue after SIGTERM; then they are stopped.', '30s'),
  metrics: key(
    text,
    'Address and port at which its metrics can be read, without a token: 127.0.0.1:9464. Default: nowhere.',
  ),
  log: key(logSchema, 'What the worker logs to stderr: start, end and problems. See docs/reference/service.md.'),
})

/** The sections of a config that only a hub on many machines needs. */
export const machineSections = {
  cluster: key(
    clusterSchema,
    'How the other processes of a hub on many machines reach this one. See docs/reference/service.md.',
  ),
  worker: key(workerSchema, 'Which calls tool-hub worker executes. See docs/reference/workers.md.'),
}

/** The sections as they were written, checked. */
export interface MachineSections {
  readonly cluster?: z.output<typeof clusterSchema> | undefined
  readonly worker?: z.output<typeof workerSchema> | undefined
}

/** How the processes of a cluster reach this one. */
export interface ClusterOptions {
  /** Address and port to listen on for other processes: `10.0.0.7:4041`. Default: any free port of loopback. */
  readonly listen?: string
  /** URL at which other processes reach it. Default: where it listens, if that is loopback. */
  readonly address?: string
}

/** Options of a worker. */
export interface WorkerSection {
  /** Its labels. Default: none. */
  readonly labels?: readonly string[]
  /** How many calls it executes concurrently. Default: 4. */
  readonly concurrency?: number
  /** How long running calls may continue after SIGTERM. Default: 30 s. */
  readonly drainMs?: number
  /** Address and port at which its metrics can be read. Default: nowhere. */
  readonly metrics?: string
  /** What `tool-hub worker` writes to stderr. */
  readonly log?: LogOptions
}

/** The sections as options of a service and of a worker. */
export function toMachines(
  document: ConfigDocument,
  { cluster, worker = {} }: MachineSections,
): { readonly cluster: ClusterOptions | undefined; readonly worker: WorkerSection } {
  return { cluster: cluster && toCluster(document, cluster), worker: toWorker(worker) }
}

/** The section `cluster` with its references filled in, so that all machines can have the same file. */
function toCluster(document: ConfigDocument, written: z.output<typeof clusterSchema>): ClusterOptions {
  const [listen, address] = (['listen', 'address'] as const).map((name) => {
    const text = written[name]
    return text && fillAt(document, ['cluster', name], text)
  })
  if (address !== undefined && !(URL.canParse(address) && /^https?:$/.test(new URL(address).protocol))) {
    const message = `must be a URL such as http://10.0.0.7:4041, not ${JSON.stringify(address)}.`
    const path = ['cluster', 'address']
    throw configError(document.label, [{ path, message, position: document.locate(path) }])
  }
  return withoutUndefined<ClusterOptions>({ listen, address })
}

/** The section `worker` as options of `startWorker`. */
function toWorker({ drain, log, ...rest }: z.output<typeof workerSchema>): WorkerSection {
  return withoutUndefined<WorkerSection>({
    ...rest,
    drainMs: drain === undefined ? undefined : parseDuration(drain),
    log: toLog(log),
  })
}
