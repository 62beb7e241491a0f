import { z } from 'zod'

/** A process that shares the store of the hub. */
const clusterProcess = z.object({
  /** Unique over all machines and restarts. */
  id: z.string(),
  /** What it does: answers requests, executes calls of others, or embeds the library. */
  kind: z.enum(['service', 'worker', 'library']),
  /** The URL at which other processes reach it; absent if they cannot. */
  address: z.string().optional(),
  /** Name of its machine. */
  host: z.string(),
  /** Its process id on that machine. */
  pid: z.number(),
  /** Its version of tool-hub. */
  version: z.string(),
  /** Labels of a worker. */
  labels: z.array(z.string()),
  /** Calls that it executes now. */
  running: z.number(),
  /** How many calls a worker executes concurrently; absent for others. */
  concurrency: z.number().optional(),
  /** Whether it takes no more work because it is about to end. */
  isDraining: z.boolean(),
  /** Whether its rules differ from those of the process that answers. */
  hasOtherRules: z.boolean(),
  /** When it started, by the clock of its machine, in milliseconds since 1970. */
  startedAt: z.number(),
  /** How much older its last heartbeat is than the newest of all. */
  silentMs: z.number(),
  /** Whether it counts as alive: its last heartbeat is at most 10 s old. */
  isAlive: z.boolean(),
})

/** A run that lives in one process. */
const clusterLease = z.object({
  /** Id of the run. */
  run: z.string(),
  /** Id of the process. */
  process: z.string(),
  /** How often the run was leased to another process. */
  epoch: z.number(),
  /** When it was leased, in milliseconds since 1970. */
  leasedAt: z.number().optional(),
  /** Principal that the run belongs to; absent for a run of the hub's owner. */
  principal: z.string().optional(),
})

/** Calls that wait for a worker. */
const clusterQueue = z.object({
  /** Labels that a worker needs for them, separated by commas; empty if any worker will do. */
  labels: z.string(),
  /** How many calls wait. */
  waiting: z.number(),
  /** How many calls workers execute. */
  running: z.number(),
  /** How long the oldest waiting call waits; absent if none does. */
  oldestMs: z.number().optional(),
})

/** `GET /v1/cluster`: the processes that share the store, the runs they have leased, and what waits for workers. */
export const clusterState = z.object({
  /** Id of the process that answers; absent if it is alone with its store. */
  self: z.string().optional(),
  /** Whether the process that answers has lost the store for so long that it starts nothing. */
  isCutOff: z.boolean(),
  /** The processes of the last day, those that are alive first. */
  processes: z.array(clusterProcess),
  /** The latest leases, newest first. */
  leases: z.array(clusterLease),
  /** Whether there are more leases than listed. */
  hasMoreLeases: z.boolean(),
  /** The queues of the workers. */
  queues: z.array(clusterQueue),
  /** How far the process that answers is with sharing its records; absent if it has none to share. */
  records: z
    .object({
      /** Segments that PostgreSQL has taken since the process started. */
      segments: z.number(),
      /** Bytes that it does not have yet. */
      waitingBytes: z.number(),
      /** How old the oldest of them is. */
      lagMs: z.number(),
      /** Whether it refused them when it was last tried; absent in answers of an earlier version. */
      isRefused: z.boolean().optional(),
    })
    .optional(),
})
export type ClusterState = z.infer<typeof clusterState>
