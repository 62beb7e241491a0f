import { createHash } from 'node:crypto'
import type { SandboxLevel } from '../../../core/index.ts'
import type { ProcessLimits } from '../host/limits.ts'

/** The home of every sandboxed command: empty, in memory, and removed with the sandbox. */
export const SANDBOX_HOME = '/run/home'

/** What a sandbox shows to its command, and nothing else. All paths are real and absolute. */
export interface SandboxSpec {
  readonly level: SandboxLevel
  readonly roots: ReadonlyArray<{ readonly path: string; readonly mode: 'read' | 'write' }>
  /** Further files and folders that are readable. */
  readonly readable: readonly string[]
  /** Further files and folders that are writable. */
  readonly writable: readonly string[]
  /** Files and folders inside the roots that are visible but read-only. */
  readonly protect: readonly string[]
  /** Files and folders inside the roots that are not visible. */
  readonly hide: readonly string[]
  readonly limits: ProcessLimits
  /** The unix socket of the proxy, where the network is granted. */
  readonly proxySocket?: string
  /** The complete environment of a command, before the variables that its call adds. */
  readonly environment: Readonly<Record<string, string>>
}

/** A sandbox as a program to start; the words of the command follow `args`. */
export interface SandboxLaunch {
  readonly level: SandboxLevel
  /** Sandboxes with the same key are identical: a warm one serves any of them. */
  readonly key: string
  readonly file: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** The filter of system calls, and the descriptor from which the sandbox reads it. */
  readonly seccomp?: { readonly fd: number; readonly program: Uint8Array }
  /** A helper process that must run in the sandbox before the command starts: the bridge to the proxy. Prints a line when ready. */
  readonly helper?: readonly string[]
  /**
   * Mounts inside folders that commands can write: a running command could have replaced the source with a link while
   * this sandbox was created. They are checked in the sandbox's mount table before it gets its command.
   */
  readonly swappable?: readonly string[]
  /** Mounts that hide or protect something: the command runs only as long as all of them are in place. */
  readonly closed?: readonly string[]
  /** The command runs as root: the sandbox is started where the machine's devices and programs are read-only. */
  readonly hasPrivateMounts?: boolean
  readonly limits: ProcessLimits
}

/** One step in building the root of a sandbox; `to` is a path in the sandbox. */
export type Mount =
  | { readonly kind: 'read' | 'write'; readonly from: string; readonly to: string }
  | { readonly kind: 'memory'; readonly to: string; readonly bytes: number; readonly mode: '0755' | '1777' }
  | { readonly kind: 'link'; readonly target: string; readonly to: string }
  /** An empty folder in which nothing can be created. */
  | { readonly kind: 'hideFolder'; readonly to: string }
  /** A file that nobody can open, not even root. */
  | { readonly kind: 'hideFile'; readonly to: string }

/** Identifies a sandbox by everything that it is started with. */
export function sandboxKey(
  sandbox: Pick<SandboxLaunch, 'level' | 'file' | 'args' | 'env' | 'helper' | 'hasPrivateMounts'>,
): string {
  const { level, file, args, env, helper } = sandbox
  const parts = [level, file, args, Object.entries(env).toSorted(), helper]
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 22)
}
