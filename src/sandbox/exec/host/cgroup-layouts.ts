import { readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { ProcessLimits } from './limits.ts'

/** The limits that the kernel enforces for a group. */
export type CgroupLimits = Pick<ProcessLimits, 'memoryBytes' | 'processes'>

/** One way in which this machine may let us create groups. */
export interface CgroupLayout {
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
