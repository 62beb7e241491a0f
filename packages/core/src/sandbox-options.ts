import type { SandboxLevel } from './commands.ts'

/** Where tools may go. The model cannot loosen it. */
export interface Sandbox {
  /** The folder that `read:fs` and `write:fs` see. Default: the run's own `workspace/`. */
  readonly root?: string
  /** A folder below which each run has a workspace of its own, `<run-id>/workspace`; used when there is no `root`. */
  readonly workspaces?: string
  /** Further folders; what is read in an untrusted one counts as content from outside. */
  readonly roots?: ReadonlyArray<{
    /** The folder; relative paths start at the working directory of the process. */
    readonly path: string
    /** What tools may do there; `write` includes reading. */
    readonly mode: 'read' | 'write'
    /** What is read there counts as content from outside. Default: `false`. */
    readonly untrusted?: boolean
  }>
  /** Files and folders in them that tools never change, in addition to the built-in list. */
  readonly protect?: readonly string[]
  /** Hosts that `network` reaches: `api.github.com`, `*.example.org`. Default: none. */
  readonly network?: readonly string[]
  /** Private address ranges the owner opens, as CIDR. Default: none. */
  readonly privateRanges?: readonly string[]
  /** Address ranges that stay closed, in addition to the built-in list, as CIDR. */
  readonly blockedRanges?: readonly string[]
  /**
   * `false` lets your rules allow commands also where this machine cannot sandbox them. By default each of those
   * commands needs approval.
   */
  readonly required?: boolean
  /** What commands get in addition to the roots. Default: nothing. */
  readonly commands?: CommandSandbox
}

/** What commands get in addition to the roots, which they see as file tools do. */
export interface CommandSandbox {
  /** Further files and folders that they see. */
  readonly readable?: readonly string[]
  /** Further folders that they may change. */
  readonly writable?: readonly string[]
  /** Package caches of your home that they share. */
  readonly caches?: readonly CacheName[]
  /** Variables of the hub's own environment that they get; none that holds a secret, unless you mean it. */
  readonly env?: readonly string[]
  /** Whether they see files such as `.env` and `*.pem` in the roots. Default: `hidden`. */
  readonly secrets?: 'hidden' | 'visible'
  /** A weaker sandbox than this machine supports. */
  readonly level?: SandboxLevel
  /** How many sandboxes are prepared in advance, so that the next command starts without delay. Default: 2. */
  readonly prepared?: number
}

/** Caches that commands can be given by name. */
export const CACHE_NAMES = ['npm', 'go', 'cargo'] as const

/** One of the caches. */
export type CacheName = (typeof CACHE_NAMES)[number]
