import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { errnoOf } from '../../../disk/errno.ts'
import { type CgroupLayout, readLayouts } from './cgroup-layouts.ts'
import { findProgram } from './find-program.ts'
import type { CommandLimits } from './jail.ts'

/** A group of processes that the kernel bounds as a whole. */
export interface Cgroup {
  /**
   * Files in which a process with a single thread writes 0 to be in it. In version 1 that takes 0.1 ms, since it moves
   * one thread; to move a whole process, as `add` does, waits for all processors, up to 25 ms.
   */
  readonly entrances: readonly string[]
  /** Takes a process in; what it starts from now on is in it too. */
  add(pid: number): Promise<void>
  members(): Promise<number[]>
  /** Kills all members; those that start meanwhile too. */
  kill(): Promise<void>
  /** Ends the group, once its members have gone. */
  remove(): Promise<void>
}

/** The groups that this hub may make. */
export interface Cgroups {
  readonly version: 'v1' | 'v2' | 'none'
  /** Undefined where no group can be made, or this one could not. */
  create(limits: Pick<CommandLimits, 'memoryBytes' | 'processes'>): Promise<Cgroup | undefined>
}

const PREFIX = 'tool-hub-'
const MOST_ROUNDS = 400
let made = 0

/** Finds the first place where a group with limits can be made, by making one and moving a process into it. */
export async function openCgroups(layouts?: readonly CgroupLayout[]): Promise<Cgroups> {
  for (const layout of layouts ?? (await readLayouts())) {
    if (!(await works(layout))) continue
    await sweep(layout)
    return { version: layout.version, create: (limits) => create(layout, limits) }
  }
  return { version: 'none', create: async () => undefined }
}

async function create(
  layout: CgroupLayout,
  limits: Pick<CommandLimits, 'memoryBytes' | 'processes'>,
): Promise<Cgroup | undefined> {
  const name = `${PREFIX}${process.pid}-${++made}`
  const folders = layout.parents.map((parent) => join(parent, name))
  try {
    for (const [index, folder] of folders.entries()) {
      await mkdir(folder)
      for (const [file, value] of layout.limits(index, limits)) await set(folder, file, value)
    }
    return group(folders, layout.version === 'v1' ? 'tasks' : 'cgroup.procs')
  } catch {
    // Read-only, or taken away since it was tried: commands continue with the limits that each process has.
    await Promise.allSettled(folders.map(removeFolder))
    return undefined
  }
}

function group(folders: readonly string[], entrance = 'cgroup.procs'): Cgroup {
  const members = async () => {
    const lists = await Promise.all(folders.map(membersOf))
    return [...new Set(lists.flat())]
  }
  return {
    entrances: folders.map((folder) => join(folder, entrance)),
    async add(pid) {
      for (const folder of folders) await writeFile(join(folder, 'cgroup.procs'), String(pid))
    },
    members,
    async kill() {
      if (await killAll(folders)) return
      // One by one, until nobody is left who could have started another; who waits for a broken disk never goes.
      for (let round = 0; round < MOST_ROUNDS; round++) {
        const left = await members()
        if (left.length === 0) return
        for (const pid of left) killOne(pid)
        await nextTurn()
      }
    },
    async remove() {
      await Promise.all(folders.map(removeFolder))
    },
  }
}

async function membersOf(folder: string): Promise<number[]> {
  const text = await readFile(join(folder, 'cgroup.procs'), 'utf8').catch(ignoreMissing)
  // 0 stands for a process that this one cannot see; as a target it would mean ourselves.
  return (text ?? '')
    .split('\n')
    .map(Number)
    .filter((pid) => pid > 0)
}

/** A file of version 2 that kills a whole group at once, since Linux 5.14. */
async function killAll(folders: readonly string[]): Promise<boolean> {
  try {
    for (const folder of folders) await writeFile(join(folder, 'cgroup.kill'), '1', { flag: 'r+' })
    return true
  } catch {
    // Version 1, or an older kernel.
    return false
  }
}

function killOne(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if (errnoOf(error) !== 'ESRCH') throw error
  }
}

async function removeFolder(folder: string): Promise<void> {
  for (let round = 0; round < MOST_ROUNDS; round++) {
    try {
      await rmdir(folder)
      return
    } catch (error) {
      if (errnoOf(error) !== 'EBUSY') return ignoreMissing(error)
      // The kernel counts a member until it is gone for good.
      await nextTurn()
    }
  }
}

function ignoreMissing(error: unknown): undefined {
  if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENODEV') return undefined
  throw error
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5))
}

/** Optional ones are tried only: swap need not be counted on every machine. */
async function set(folder: string, file: string, value: string): Promise<void> {
  const isOptional = file.endsWith('?')
  try {
    await writeFile(join(folder, isOptional ? file.slice(0, -1) : file), value, { flag: 'r+' })
  } catch (error) {
    if (!isOptional) throw error
  }
}

const TRIAL = { memoryBytes: 256 * 1024 ** 2, processes: 16 }

async function works(layout: CgroupLayout): Promise<boolean> {
  const trial = await create(layout, TRIAL)
  if (!trial) return false
  try {
    return await holdsAProcess(trial)
  } finally {
    await trial.remove()
  }
}

/** Moves a child in and looks whether it is there. */
function holdsAProcess(trial: Cgroup): Promise<boolean> {
  return new Promise((resolve) => {
    const child = execFile(findProgram('cat') ?? '/bin/cat', () => {})
    const said = trial.add(child.pid!).then(
      async () => (await trial.members()).includes(child.pid!),
      () => false,
    )
    child.on('close', () => resolve(said))
    child.on('error', () => resolve(false))
    void said.finally(() => child.stdin?.end())
  })
}

/** Takes away the groups of hubs that were killed, and whoever is left in them. */
async function sweep(layout: CgroupLayout): Promise<void> {
  for (const parent of layout.parents) {
    for (const name of await readdir(parent)) {
      const pid = name.startsWith(PREFIX) ? Number.parseInt(name.slice(PREFIX.length), 10) : Number.NaN
      if (Number.isNaN(pid) || isRunning(pid)) continue
      const stale = group([join(parent, name)])
      await stale.kill()
      await stale.remove()
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return errnoOf(error) !== 'ESRCH'
  }
}
