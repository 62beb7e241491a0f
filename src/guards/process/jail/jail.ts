import type { SandboxLevel } from '../../../contracts/commands.ts'

/** How much a command may use. */
export interface CommandLimits {
  /** `Infinity` for a program that lives long. */
  readonly cpuSeconds: number
  /** Most memory: of all its processes together where the machine has cgroups, else of each. */
  readonly memoryBytes: number
  /** Most processes and threads at the same time. */
  readonly processes: number
  /** The largest file that it may write. */
  readonly fileBytes: number
  /** Most files open at the same time. */
  readonly openFiles: number
  /** Disk space and files that it may add; watched for commands only. */
  readonly diskBytes?: number
  /** Most files and folders that it may create. */
  readonly newFiles?: number
}

/** What a jail must let in, and nothing else. All paths are real and absolute. */
export interface JailSpec {
  readonly level: SandboxLevel
  readonly roots: ReadonlyArray<{ readonly path: string; readonly mode: 'read' | 'write' }>
  /** Further folders and files, read-only and writable. */
  readonly readable: readonly string[]
  readonly writable: readonly string[]
  /** Inside the roots: seen, never changed. */
  readonly protect: readonly string[]
  /** Inside the roots: never seen. Files and folders. */
  readonly hide: readonly string[]
  readonly limits: CommandLimits
  /** The unix socket of the proxy, where the network is granted. */
  readonly proxySocket?: string
  /** The whole environment of a command, before the call's own additions. */
  readonly environment: Readonly<Record<string, string>>
}

/** A jail as a program to start; the words of the command follow `args`. */
export interface Jail {
  readonly level: SandboxLevel
  /** Jails with the same key are alike: one that was prepared ahead serves any of them. */
  readonly key: string
  readonly file: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Must be readable at this descriptor from its beginning. */
  readonly seccomp?: { readonly fd: number; readonly program: Uint8Array }
  /** Words that must run inside, beside the command, before it starts: the way to the proxy. They print a line when ready. */
  readonly companion?: readonly string[]
  /**
   * Mounts inside folders that commands write to: one that runs already could have swapped the source for a link while
   * this jail was made. `swappedMount` tells, from the mounts of a process in the jail, before it gets its command.
   */
  readonly swappable?: readonly string[]
  /** Mounts that hide something or keep it from being changed: a command runs only as long as all are there. */
  readonly closed?: readonly string[]
  /** Commands run as root: it is started where the devices and programs of the machine are read-only. */
  readonly hasPrivateMounts?: boolean
  readonly limits: CommandLimits
}

/** What this machine can do, found out by really running it. */
export interface SandboxReport {
  /** The strongest isolation that this machine has. */
  readonly level: SandboxLevel
  /** `bubblewrap 0.8.0`, `unshare from util-linux 2.38`, … */
  readonly engine: string
  /** What is weaker than it could be and what to do about it, one a line for people. */
  readonly weaknesses: readonly string[]
  /** How processes and memory are bounded beyond prlimit. */
  readonly cgroups: 'v1' | 'v2' | 'none'
}
