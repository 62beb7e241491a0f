import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { withFreeDescriptors } from '@tool-hub/core'
import { errnoOf, once } from '@tool-hub/core/lib'
import { isLeftBehind } from '../../system/index.ts'
import { findProgram, type ProcessLimits } from './host.ts'

/** A group of processes that the kernel limits as a whole. */
export interface Cgroup {
  /**
   * A process with a single thread joins by writing 0 to each of these files. In version 1 that takes 0.1 ms, since it
   * moves one thread; moving a whole process, as `add` does, waits for all processors, up to 25 ms.
   */
  readonly joinFiles: readonly string[]
  /** Adds a process; everything it starts from then on is in the group too. */
  add(pid: number): Promise<void>
  members(): Promise<number[]>
  /** Kills all members, including those that start meanwhile. */
  kill(): Promise<void>
  /** Removes the group once its members have exited. */
  remove(): Promise<void>
}

/** Creates groups at the place that works on this machine. */
export interface Cgroups {
  readonly version: 'v1' | 'v2' | 'none'
  /** Undefined if this machine has no groups to offer, or this one could not be created. */
  create(limits: CgroupLimits): Promise<Cgroup | undefined>
}

/** The group of one command. */
export interface CommandCgroup {
  /** Files to which a process writes 0 to join, together with everything it starts from then on. */
  joinFiles(): Promise<readonly string[]>
  remove(): Promise<void>
}

/** Creates the group of a command; returns undefined where none is wanted. */
export type CreateCgroup = (limits: ProcessLimits) => CommandCgroup | undefined

const PREFIX = 'tool-hub-'
const MAX_ROUNDS = 400
let created = 0

const openOnce = once(() => withFreeDescriptors('No cgroup can be made', openCgroups))

/** A group that limits all processes of a command together, on machines that support it. */
export function commandCgroup(limits: ProcessLimits): CommandCgroup {
  const cgroup = openOnce().then((cgroups) => cgroups.create(limits))
  return {
    async joinFiles() {
      return (await cgroup)?.joinFiles ?? []
    },
    async remove() {
      await (await cgroup)?.remove()
    },
  }
}

/** Finds the first place where a group with limits can be created, by creating one and moving a process into it. */
export async function openCgroups(layouts?: readonly CgroupLayout[]): Promise<Cgroups> {
  for (const layout of layouts ?? (await readLayouts())) {
    if (!(await works(layout))) continue
    await removeStaleGroups(layout)
    return { version: layout.version, create: (limits) => create(layout, limits) }
  }
  return { version: 'none', create: async () => undefined }
}

async function create(layout: CgroupLayout, limits: CgroupLimits): Promise<Cgroup | undefined> {
  const name = `${PREFIX}${process.pid}-${++created}`
  const folders = layout.parents.map((parent) => join(parent, name))
  try {
    for (const [index, folder] of folders.entries()) {
      await mkdir(folder)
      for (const [file, value] of layout.limits(index, limits)) await set(folder, file, value)
    }
    return group(folders, layout.version === 'v1' ? 'tasks' : 'cgroup.procs')
  } catch {
    // Read-only, or revoked since it was tried: commands still have the limits of each process.
    await Promise.allSettled(folders.map(removeFolder))
    return undefined
  }
}

function group(folders: readonly string[], joinFile = 'cgroup.procs'): Cgroup {
  const members = async () => {
    const lists = await Promise.all(folders.map(membersOf))
    return [...new Set(lists.flat())]
  }
  return {
    joinFiles: folders.map((folder) => join(folder, joinFile)),
    async add(pid) {
      for (const folder of folders) await writeFile(join(folder, 'cgroup.procs'), String(pid))
    },
    members,
    async kill() {
      if (await killAll(folders)) return
      // One by one, until nobody is left who could have started another. A process that waits for a broken disk never exits.
      for (let round = 0; round < MAX_ROUNDS; round++) {
        const left = await members()
        if (left.length === 0) return
        for (const pid of left) killOne(pid)
        await pause()
      }
    },
    async remove() {
      await Promise.all(folders.map(removeFolder))
    },
  }
}

async function membersOf(folder: string): Promise<number[]> {
  const text = await readFile(join(folder, 'cgroup.procs'), 'utf8').catch(ignoreMissing)
  // 0 stands for a process that this one cannot see; as the target of a signal it would mean ourselves.
  return (text ?? '')
    .split('\n')
    .map(Number)
    .filter((pid) => pid > 0)
}

/** Uses the file of version 2 that kills a whole group, since Linux 5.14. */
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
  for (let round = 0; round < MAX_ROUNDS; round++) {
    try {
      await rmdir(folder)
      return
    } catch (error) {
      if (errnoOf(error) !== 'EBUSY') return ignoreMissing(error)
      // The kernel counts a member until it is completely gone.
      await pause()
    }
  }
}

function ignoreMissing(error: unknown): undefined {
  if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENODEV') return undefined
  throw error
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5))
}

/** A file name with `?` is optional: not every machine accounts for swap, for example. */
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
    return await acceptsProcess(trial)
  } finally {
    await trial.remove()
  }
}

/** Moves a child process in and checks that it is there. */
function acceptsProcess(trial: Cgroup): Promise<boolean> {
  return new Promise((resolve) => {
    const child = execFile(findProgram('cat') ?? '/bin/cat', () => {})
    const answer = trial.add(child.pid!).then(
      async () => (await trial.members()).includes(child.pid!),
      () => false,
    )
    child.on('close', () => resolve(answer))
    child.on('error', () => resolve(false))
    void answer.finally(() => child.stdin?.end())
  })
}

/** Removes the groups of hubs that were killed, and kills the processes that are left in them. */
async function removeStaleGroups(layout: CgroupLayout): Promise<void> {
  for (const parent of layout.parents) {
    for (const name of await readdir(parent)) {
      if (!isLeftBehind(name, PREFIX)) continue
      const stale = group([join(parent, name)])
      await stale.kill()
      await stale.remove()
    }
  }
}

/** The limits that the kernel enforces for a group. */
type CgroupLimits = Pick<ProcessLimits, 'memoryBytes' | 'processes'>

/** One way in which this machine may let us create groups. */
interface CgroupLayout {
  readonly version: 'v1' | 'v2'
  /** Folders in which a group is created, one for each hierarchy. */
  readonly parents: readonly string[]
  /** What to write into the group of a hierarchy; a file name with `?` may fail. */
  readonly limits: (parent: number, limits: CgroupLimits) => ReadonlyArray<readonly [file: string, value: string]>
}

/** The layouts that may work here, best first, according to this process's entries in /proc. */
export async function readLayouts(): Promise<CgroupLayout[]> {
  const [own, mounts] = await Promise.all([readText('/proc/self/cgroup'), readText('/proc/self/mountinfo')])
  return layoutsFor(own, mounts)
}

/** The layouts for the texts of /proc/self/cgroup and /proc/self/mountinfo. */
export async function layoutsFor(own: string, mounts: string): Promise<CgroupLayout[]> {
  const layouts: CgroupLayout[] = []
  const unified = folderOf(own, mounts, '')
  // A group that contains processes may not delegate controllers, but its siblings may be ours to create.
  for (const parent of unified
    ? [unified.folder, ...(unified.folder === unified.top ? [] : [dirname(unified.folder)])]
    : []) {
    if (await delegatesControllers(parent)) layouts.push(version2(parent))
  }
  const memory = folderOf(own, mounts, 'memory')
  const pids = folderOf(own, mounts, 'pids')
  if (memory && pids) layouts.push(version1(memory.folder, pids.folder))
  return layouts
}

function version2(parent: string): CgroupLayout {
  return {
    version: 'v2',
    parents: [parent],
    limits: (_, { memoryBytes, processes }) => [
      ['pids.max', String(processes)],
      ['memory.max', String(memoryBytes)],
      ['memory.swap.max?', '0'],
      ['memory.oom.group?', '1'],
    ],
  }
}

function version1(memory: string, pids: string): CgroupLayout {
  return {
    version: 'v1',
    parents: memory === pids ? [memory] : [memory, pids],
    limits: (parent, { memoryBytes, processes }) => [
      ...(parent === 0
        ? [
            ['memory.limit_in_bytes', String(memoryBytes)] as const,
            ['memory.memsw.limit_in_bytes?', String(memoryBytes)] as const,
          ]
        : []),
      ...(parent === 1 || memory === pids ? [['pids.max', String(processes)] as const] : []),
    ],
  }
}

/** Whether groups below this folder have both controllers; requests them if they are not enabled yet. */
async function delegatesControllers(folder: string): Promise<boolean> {
  const file = join(folder, 'cgroup.subtree_control')
  const hasBoth = async () => {
    const controllers = (await readText(file)).trim().split(' ')
    return controllers.includes('memory') && controllers.includes('pids')
  }
  if (await hasBoth()) return true
  // Refused where the group is not ours, or while it contains processes itself.
  await writeFile(file, '+memory +pids', { flag: 'r+' }).catch(() => undefined)
  return hasBoth()
}

/** Where this process's own group of a controller is mounted; `''` is version 2. */
function folderOf(own: string, mounts: string, controller: string): { folder: string; top: string } | undefined {
  const path = own
    .split('\n')
    .map((line) => line.split(':'))
    .find(([, controllers = '']) => controllers.split(',').includes(controller))
    ?.slice(2)
    .join(':')
  const mount = mounts
    .split('\n')
    .map((line) => line.split(' - '))
    .find(([, kind = '']) => isHierarchy(kind, controller))?.[0]
  const [, , , root, top] = mount?.split(' ') ?? []
  if (path === undefined || root === undefined || top === undefined) return undefined
  // Inside a container the mount may start below the top, and the path may lead out of it.
  const below = root === '/' ? path : path.startsWith(`${root}/`) ? path.slice(root.length) : '/'
  return { folder: below === '/' || below.startsWith('/..') ? top : join(top, below), top }
}

function isHierarchy(kind: string, controller: string): boolean {
  const [type, , options = ''] = kind.split(' ')
  return controller === '' ? type === 'cgroup2' : type === 'cgroup' && options.split(',').includes(controller)
}

async function readText(path: string): Promise<string> {
  // A missing file means that the machine does not have this version.
  return readFile(path, 'utf8').catch(() => '')
}
