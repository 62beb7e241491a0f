import { constants, lstatSync, opendirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Where a command can write in memory that belongs to its sandbox. */
const MEMORY = ['/tmp', '/run', '/dev/shm', '/dev/pts']
/** A sandbox in which more files are left than this is not worth reading. */
const MAX_ENTRIES = 500
const FILE_TYPE = BigInt(constants.S_IFMT)
const FOLDER = BigInt(constants.S_IFDIR)
/** The fields of /proc/<pid>/stat that one process can change of another: priority, nice value, real-time priority and policy. */
const SCHEDULING = [15, 16, 37, 38]

/**
 * Everything that a command could have left behind in its sandbox for the next one, apart from processes and System V
 * objects, which the supervisor removes: files in memory, sockets, and the limits and priorities of the supervisor, which
 * every command inherits. A sandbox in which this has changed gets no other command. `shell` waits in the sandbox; throws
 * if its view of the files cannot be opened.
 */
export function readSandboxState(supervisor: number, shell: number): string {
  const entries: string[] = []
  for (const folder of MEMORY) describe(`/proc/${shell}/root`, folder, undefined, entries)
  return [...entries, ...sockets(shell), ...inherited(supervisor)].join('\n')
}

/** The time of the last change is included, so that a file which was created and removed counts as well. */
function describe(root: string, path: string, device: bigint | undefined, entries: string[]): void {
  const { dev, ino, mode, uid, size, ctimeNs } = lstatSync(join(root, path), { bigint: true })
  if (entries.length >= MAX_ENTRIES) throw new Error('too many files are in its memory')
  // What is mounted there is not part of this memory, and persists anyway.
  if (device !== undefined && dev !== device) return void entries.push(`${path} mounted`)
  entries.push(`${path} ${ino} ${mode} ${uid} ${size} ${ctimeNs}`)
  if ((mode & FILE_TYPE) !== FOLDER) return
  for (const name of namesIn(join(root, path))) describe(root, join(path, name), dev, entries)
}

/**
 * Connections outlive their processes for a while, and keep their port; so does a socket that was sent to itself. Counted
 * by the kernel: listing them takes 2 ms.
 */
function sockets(shell: number): string[] {
  const counts = ['sockstat', 'sockstat6'].map((file) => textOf(`/proc/${shell}/net/${file}`)).join('\n')
  const others = textOf(`/proc/${shell}/net/protocols`).match(/^(UNIX\S*|NETLINK) +\d+ +\d+/gm) ?? []
  return [...(counts.match(/^\w+: inuse \d+|\btw \d+/gm) ?? []), ...others]
}

function inherited(supervisor: number): string[] {
  const stat = textOf(`/proc/${supervisor}/stat`)
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const allowed = textOf(`/proc/${supervisor}/status`).match(/^(Cpus|Mems)_allowed:.*$/gm) ?? []
  return [
    textOf(`/proc/${supervisor}/limits`),
    textOf(`/proc/${supervisor}/oom_score_adj`),
    SCHEDULING.map((field) => fields[field]).join(' '),
    ...allowed,
  ]
}

/** Empty if the kernel has no such file. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** Never all names of a large folder: they would fill the memory of this process. */
function namesIn(folder: string): string[] {
  const names: string[] = []
  const opened = opendirSync(folder)
  try {
    for (let entry = opened.readSync(); entry; entry = opened.readSync()) {
      if (names.push(entry.name) > MAX_ENTRIES) throw new Error('too many files are in its memory')
    }
  } finally {
    opened.closeSync()
  }
  return names.sort()
}
