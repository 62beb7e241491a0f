import { type BigIntStats, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sharedMounts } from './mount-checks.ts'

/** Where a command can write in memory that belongs to its sandbox, unless a folder from outside is mounted there. */
const MEMORY = ['/tmp', '/run', '/dev/shm', '/dev/pts']
/** A new sandbox has only mount points there, and this process has a small heap. */
const MAX_ENTRIES = 2_000
/** The fields of /proc/<pid>/stat that one process can change of another: priority, nice value, real-time priority and policy. */
const SCHEDULING = [15, 16, 37, 38]

/**
 * Everything that a command could leave behind in its sandbox for the next one, apart from processes and System V objects,
 * which the supervisor removes: files in memory, sockets, and the limits and priorities of the supervisor, which every
 * command inherits. A sandbox in which this has changed gets no other command.
 */
export class SandboxState {
  readonly #supervisor: number
  /** Every file and folder in memory, and the device of the folder that it is in. */
  readonly #entries: { readonly path: string; readonly parent: bigint | undefined }[] = []
  readonly #untouched: string

  /** Reads it before the first command. `shell` waits in the sandbox; throws if its view of the files cannot be opened. */
  constructor(supervisor: number, shell: number) {
    this.#supervisor = supervisor
    const shared = sharedMounts(textOf(`/proc/${shell}/mountinfo`), textOf('/proc/self/mountinfo'))
    for (const folder of MEMORY) if (!shared.has(folder)) this.#list(shell, folder, undefined)
    this.#untouched = this.#read(shell)
  }

  /** Whether it is the same again. The next shell waits in the sandbox. Throws if a file is gone. */
  isUntouched(shell: number): boolean {
    return this.#read(shell) === this.#untouched
  }

  #list(shell: number, path: string, parent: bigint | undefined): void {
    if (this.#entries.push({ path, parent }) > MAX_ENTRIES) throw new Error(`there are too many files in ${path}`)
    const stats = statsOf(shell, path)
    if (isMounted(stats, parent) || !stats.isDirectory()) return
    for (const name of readdirSync(rootOf(shell, path)).sort()) this.#list(shell, join(path, name), stats.dev)
  }

  /**
   * Folders are not listed again, which takes 0.2 ms for each command: a new name changes the size and the time of its
   * folder, and a name that was removed cannot be found.
   */
  #read(shell: number): string {
    const entries = this.#entries.map(({ path, parent }) => describe(statsOf(shell, path), parent))
    return [...entries, ...sockets(shell), ...inherited(this.#supervisor)].join('\n')
  }
}

function rootOf(shell: number, path: string): string {
  return `/proc/${shell}/root${path}`
}

function statsOf(shell: number, path: string): BigIntStats {
  return lstatSync(rootOf(shell, path), { bigint: true })
}

/** What is mounted there is not part of this memory, and persists anyway. */
function isMounted({ dev }: BigIntStats, parent: bigint | undefined): boolean {
  return parent !== undefined && dev !== parent
}

/** The time of the last change is included, so that a file which was created and removed counts as well. */
function describe(stats: BigIntStats, parent: bigint | undefined): string {
  const { ino, mode, uid, size, ctimeNs } = stats
  return isMounted(stats, parent) ? 'mounted' : `${ino} ${mode} ${uid} ${size} ${ctimeNs}`
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
