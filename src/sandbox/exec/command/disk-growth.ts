import { lstatSync, opendirSync, readdirSync, readlinkSync, type Stats, statSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'

/** How much was added to a disk. */
export interface DiskGrowth {
  readonly bytes: number
  readonly files: number
}

/** What is measured. */
export interface GrowthQuery {
  readonly folders: readonly string[]
  readonly sinceMs: number
  /** A process of the command: unnamed files that its processes hold open are counted too. */
  readonly pid: number | undefined
}

/** The limit at which the measurement ends, and the time at which it gives up. */
export interface GrowthBound extends DiskGrowth {
  readonly deadlineMs: number
}

/** How long the event loop is blocked at a time. */
const SLICE_MS = 4
const BLOCK_BYTES = 512

/**
 * Counts the space of the files that were created or changed since then, and how many were created, until a limit is
 * exceeded. Returns undefined if that took too long. The kernel sets change times; no command can forge them.
 */
export async function measureGrowth(query: GrowthQuery, bound: GrowthBound): Promise<DiskGrowth | undefined> {
  const counted = new Set<string>()
  const found = { bytes: 0, files: 0 }
  const isEnough = () => found.bytes > bound.bytes || found.files > bound.files
  const add = (stats: Stats) => {
    if (stats.nlink > 1 && !stats.isDirectory()) {
      const id = `${stats.dev}:${stats.ino}`
      if (counted.has(id)) return
      counted.add(id)
    }
    if (stats.ctimeMs >= query.sinceMs) found.bytes += stats.blocks * BLOCK_BYTES
    if ((stats.birthtimeMs || stats.ctimeMs) >= query.sinceMs) found.files += 1
  }
  for (const stats of unnamedFiles(query.pid)) found.bytes += stats.blocks * BLOCK_BYTES
  const waiting = [...query.folders]
  let sliceEnd = Date.now() + SLICE_MS
  for (let folder = waiting.pop(); folder !== undefined && !isEnough(); folder = waiting.pop()) {
    for (const name of namesIn(folder)) {
      const path = join(folder, name)
      const stats = statsOf(path)
      if (!stats) continue
      add(stats)
      if (stats.isDirectory()) waiting.push(path)
      if (isEnough()) break
      if (Date.now() < sliceEnd) continue
      if (Date.now() > bound.deadlineMs) return undefined
      await setImmediate()
      sliceEnd = Date.now() + SLICE_MS
    }
  }
  return found
}

/** One by one: a folder may contain far more names than are needed for the answer. */
function* namesIn(folder: string): Generator<string> {
  let opened: ReturnType<typeof opendirSync>
  try {
    opened = opendirSync(folder, { bufferSize: 256 })
  } catch {
    // It is gone, or closed to the hub: then it is not counted.
    return
  }
  try {
    for (let entry = opened.readSync(); entry; entry = opened.readSync()) yield entry.name
  } finally {
    opened.closeSync()
  }
}

/** Files that were deleted and are still open in the process namespace of the command. */
function unnamedFiles(pid: number | undefined): Stats[] {
  const found = new Map<string, Stats>()
  for (const member of pid === undefined ? [] : membersOf(pid)) {
    for (const fd of list(`/proc/${member}/fd`)) {
      const stats = statsOf(`/proc/${member}/fd/${fd}`, statSync)
      if (stats?.isFile() && stats.nlink === 0) found.set(`${stats.dev}:${stats.ino}`, stats)
    }
  }
  return [...found.values()]
}

/** The processes in the same namespace as another one; none if that is the hub's own namespace. */
function membersOf(pid: number): string[] {
  const namespace = namespaceOf(pid)
  if (namespace === undefined || namespace === namespaceOf('self')) return []
  return list('/proc').filter((name) => /^\d+$/.test(name) && namespaceOf(name) === namespace)
}

function namespaceOf(pid: number | string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`)
  } catch {
    // It has exited, or belongs to another user.
    return undefined
  }
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function statsOf(path: string, read: (path: string) => Stats = lstatSync): Stats | undefined {
  try {
    return read(path)
  } catch {
    // It is gone.
    return undefined
  }
}
