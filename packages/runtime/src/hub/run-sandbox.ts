import { chownSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import {
  type Clock,
  type CommandLimits,
  lazyModule,
  type Sandbox,
  type SandboxLevel,
  type Secret,
  ToolError,
} from '@tool-hub/core'
import { canEnter, NOBODY_USER, type ProcessGuard, type ProgramSettings } from '@tool-hub/sandbox/exec'
import { createFilesGuard, type FilesGuard, type RootOptions } from '@tool-hub/sandbox/files'
import {
  createNetworkGuard,
  type NetworkGuard,
  type NetworkGuardOptions,
  type OpenedProxy,
  type ProxySettings,
  type WebFetchGuard,
} from '@tool-hub/sandbox/network'
import { realPath } from '@tool-hub/sandbox/system'
import type { BackgroundProcess } from '../store/index.ts'
import { namesResult, RESULTS_ALIAS, withResults } from './open-run.ts'

const loadOpenProcessGuard = lazyModule(() => import('./process-guard.ts'))

/** The default and the maximum number of bytes that a call may request. */
export interface SizeLimit {
  readonly usual: number
  readonly most: number
}

/** The owner's options that the guards need. */
export interface RunSandboxOptions {
  readonly sandbox: Sandbox
  readonly readBytes: SizeLimit
  readonly httpBytes: SizeLimit
  readonly httpTimeoutMs: number
  readonly downloadBytes: number
  readonly commands: CommandLimits
  readonly userAgent: string
  readonly secrets: ReadonlyMap<string, Secret>
  readonly clock: Clock
  /** Folder that lists files while they are being written. */
  readonly draftsFolder: string
  /** Folder with the workspace of each run, unless the owner sets another one. */
  readonly runsFolder: string | false
  /** Folders that are hidden from tools: records, grants. */
  readonly hidden: readonly string[]
  /** Paths that tools and commands must not change, because the hub loads code or configuration from them. */
  readonly protect: () => readonly string[]
  /** Folder of the ledger that lists what existed at protected paths before a command started. */
  readonly ledgerFolder: string
  /** Background commands that were lost when an earlier hub ended. */
  readonly lost: () => readonly BackgroundProcess[]
}

/** The guards of one hub, opened on first use: a hub with only pure tools never accesses the machine. */
export class RunSandbox {
  readonly #options: RunSandboxOptions
  #network: NetworkGuard | undefined
  #protect: readonly string[] | undefined
  #files: FilesGuard | undefined
  #processes: ProcessGuard | undefined
  #processModule: typeof import('./process-guard.ts') | undefined
  #standIn:
    | { readonly folder: string; readonly results: string; readonly files: FilesGuard; processes?: ProcessGuard }
    | undefined

  constructor(options: RunSandboxOptions) {
    this.#options = options
  }

  /**
   * Returns the files guard that all runs share if the owner has set a root, extended by the deliverables folder of the run.
   * Returns `undefined` otherwise: each run then has its own workspace.
   */
  sharedFiles(deliverables?: string): FilesGuard | undefined {
    const { root } = this.#options.sandbox
    if (root === undefined) return undefined
    this.#files ??= this.openFiles(root)
    if (deliverables === undefined) return { ...this.#files, close: () => {} }
    const open = () => this.openFiles(root, { path: deliverables })
    return withResults({ shared: this.#files, root, deliverables, open })
  }

  /** Returns the workspace of a run outside its records, or `undefined` if it is in the records. */
  workspaceOf(run: string): string | undefined {
    const { workspaces } = this.#options.sandbox
    return workspaces === undefined ? undefined : join(resolve(workspaces), run, 'workspace')
  }

  /** Creates the workspace of a run and returns it; `inRecords` is the one next to its records, if it has any. */
  makeWorkspace(run: string, inRecords: string | undefined): string | undefined {
    const folder = this.workspaceOf(run) ?? inRecords
    if (folder !== undefined) createWorkspace(folder)
    return folder
  }

  /** Loads the process guard, which is large, when the first command needs it. */
  async loadProcessGuard(): Promise<void> {
    this.#processModule ??= await loadOpenProcessGuard()
  }

  /** Returns the isolation level of commands, even without a root. Call `loadProcessGuard` first. */
  sandboxLevel(): Promise<SandboxLevel> {
    return this.#processModule!.sandboxLevel(this.#options.sandbox)
  }

  /** Returns the process guard that all runs share if the owner has set a root. Call `loadProcessGuard` first. */
  sharedProcesses(): ProcessGuard | undefined {
    const { root } = this.#options.sandbox
    if (root !== undefined) this.#processes ??= this.openProcesses(root)
    return this.#processes
  }

  openProcesses(root: string | undefined): ProcessGuard {
    const { sandbox, commands: limits, clock, lost, ledgerFolder } = this.#options
    return this.#processModule!.openProcessGuard(this.#roots(root), {
      ...{ sandbox, limits, clock, ledgerFolder },
      hidden: this.#options.hidden.map(realPath),
      protect: this.#protected(),
      network: () => this.network(),
      lost: lost(),
    })
  }

  /** Opens the artifacts of one run for reading. */
  openArtifacts(folder: string): FilesGuard {
    return createFilesGuard({ roots: [{ path: folder, mode: 'read' }], ...limitsOf(this.#options.readBytes) })
  }

  /** Opens a files guard. `results` is the deliverables folder of a run. */
  openFiles(root: string | undefined, results?: Omit<RootOptions, 'mode'>): FilesGuard {
    const { readBytes, draftsFolder, sandbox } = this.#options
    const isPrivate = root !== undefined && sandbox.root === undefined
    const [first, ...others] = this.#roots(root)
    const hidden = this.#options.hidden.map(realPath)
    const sweepBelow = this.#workspaceFolders()
    return createFilesGuard({
      roots: [{ ...first!, isPrivate }, ...others, ...resultRoots(results)],
      ...limitsOf(readBytes),
      draftsFolder,
      sweepBelow,
      protect: this.#protected(),
      hidden,
    })
  }

  /** Returns the protected paths and their real paths. */
  #protected(): readonly string[] {
    this.#protect ??= [...new Set(this.#options.protect().flatMap((path) => [path, realPath(path)]))]
    return this.#protect
  }

  #roots(root: string | undefined): NonNullable<Sandbox['roots']> {
    const { sandbox } = this.#options
    const roots = [...(root === undefined ? [] : [{ path: root, mode: 'write' as const }]), ...(sandbox.roots ?? [])]
    if (roots.length > 0) return roots
    throw new ToolError('SANDBOX_UNAVAILABLE', 'No sandbox root is set, so tools cannot use any file.', {
      fix: { key: 'sandbox.root', hint: 'Set sandbox.root to the folder tools may use.' },
    })
  }

  #workspaceFolders(): string[] {
    const { runsFolder, sandbox } = this.#options
    return [
      ...(runsFolder === false ? [] : [runsFolder]),
      ...(sandbox.workspaces === undefined ? [] : [resolve(sandbox.workspaces)]),
    ]
  }

  /** Returns a guard that resolves paths of a workspace that does not exist yet as if it existed and were empty. */
  standIn(workspace: string | undefined, deliverables = ''): FilesGuard {
    if (workspace === undefined) return this.openFiles(undefined)
    const { folder, results, files } = this.#emptyWorkspace()
    const inRun = (path: string) => path.replace(results, deliverables).replace(folder, workspace)
    return { ...files, resolve: (path, ...how) => inRun(files.resolve(path, ...how)) }
  }

  /** Like `standIn`, for the deliverables of a run if the owner has set a root. */
  standInShared(deliverables = ''): FilesGuard | undefined {
    const { root } = this.#options.sandbox
    const shared = this.sharedFiles()
    if (root === undefined || shared === undefined || deliverables === '') return shared
    return {
      ...shared,
      resolve: (path, ...how) => {
        if (!namesResult(path, root, deliverables)) return shared.resolve(path, ...how)
        const { results, files } = this.#emptyWorkspace()
        const standIn = resolve(root, path).replace(deliverables, results)
        return files.resolve(standIn, ...how).replace(results, deliverables)
      },
    }
  }

  /** Like `standIn`, for commands. */
  standInProcesses(workspace: string | undefined): ProcessGuard {
    if (workspace === undefined) return this.openProcesses(undefined)
    const standIn = this.#emptyWorkspace()
    standIn.processes ??= this.openProcesses(standIn.folder)
    const { folder, processes } = standIn
    const inWorkspace = (path: string) => path.replace(folder, workspace)
    return {
      ...processes,
      place(cwd) {
        const place = processes.place(cwd?.replace(workspace, folder))
        return { cwd: inWorkspace(place.cwd), roots: place.roots.map(inWorkspace) }
      },
    }
  }

  #emptyWorkspace() {
    if (!this.#standIn) {
      const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tool-hub-rehearsal-')))
      const workspaces = this.#options.sandbox.workspaces ?? this.#options.runsFolder
      const user = workspaces === false ? undefined : workspaceUser(resolve(workspaces))
      if (user) chownSync(folder, user.uid, user.gid)
      const results = realpathSync(mkdtempSync(join(tmpdir(), 'tool-hub-rehearsal-')))
      this.#standIn = { folder, results, files: this.openFiles(folder, { path: results, alias: RESULTS_ALIAS }) }
    }
    return this.#standIn
  }

  network(): NetworkGuard {
    this.#network ??= createNetworkGuard({ ...this.#networkOptions(), secrets: this.#options.secrets })
    return this.#network
  }

  #networkOptions(): NetworkGuardOptions {
    const { sandbox, httpBytes, downloadBytes, httpTimeoutMs, userAgent, clock } = this.#options
    return {
      allowedHosts: sandbox.network ?? [],
      privateRanges: sandbox.privateRanges ?? [],
      blockedRanges: sandbox.blockedRanges ?? [],
      maxBytes: httpBytes.most,
      usualBytes: httpBytes.usual,
      maxDownloadBytes: downloadBytes,
      timeoutMs: httpTimeoutMs,
      userAgent,
      clock,
    }
  }

  /** Returns the functions of the network guard that services use too. */
  webFetchGuard(): WebFetchGuard {
    const { sandbox, userAgent, clock } = this.#options
    const { privateRanges = [], blockedRanges = [] } = sandbox
    return { privateRanges, blockedRanges, userAgent, clock }
  }

  /** Opens a proxy to the hosts that the owner allows for one program, in addition to those of tools. */
  async #openProgramProxy(hosts: readonly string[], settings?: ProxySettings): Promise<OpenedProxy> {
    const guard = createNetworkGuard({ ...this.#networkOptions(), allowedHosts: hosts })
    const anyOfThem = { permits: () => {}, onConnection: () => {} }
    const proxy = await guard.openProxy(anyOfThem, new AbortController().signal, settings)
    void proxy.closed.then(() => guard.close())
    return proxy
  }

  /** Returns the settings for starting the program of a source. */
  programMachine(): ProgramSettings {
    const { sandbox, commands: limits, clock, hidden, ledgerFolder } = this.#options
    return {
      limits,
      protect: this.#protected(),
      ledgerFolder,
      ...(sandbox.commands?.level !== undefined && { level: sandbox.commands.level }),
      isSandboxRequired: sandbox.required !== false,
      hidden: hidden.map(realPath),
      clock,
      openProxy: (hosts, settings) => this.#openProgramProxy(hosts, settings),
    }
  }

  async close(): Promise<void> {
    await this.#processes?.close()
    this.#files?.close()
    this.#standIn?.files.close()
    await this.#standIn?.processes?.close()
    for (const folder of this.#standIn ? [this.#standIn.folder, this.#standIn.results] : [])
      rmSync(folder, { recursive: true, force: true })
    await this.#network?.close()
  }
}

/** Returns the root for deliverables, unless the folder was replaced by a link, which would lead tools elsewhere. */
function resultRoots(results: Omit<RootOptions, 'mode'> | undefined): RootOptions[] {
  const isFolder = results && lstatSync(results.path, { throwIfNoEntry: false })?.isDirectory()
  return isFolder ? [{ ...results, mode: 'write' }] : []
}

function limitsOf({ usual, most }: SizeLimit) {
  return { maxReadBytes: most, usualReadBytes: usual }
}

/**
 * Creates the workspace of a run, `<workspaces>/<run>/workspace` or the one next to its records. A hub that runs as root
 * gives an unused workspace to an unprivileged user, who then runs its commands; that user can enter the folders above it,
 * but not list them.
 */
function createWorkspace(folder: string): void {
  const run = dirname(folder)
  const user = workspaceUser(dirname(run))
  mkdirSync(run, { recursive: true, mode: user ? 0o711 : 0o700 })
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  // The folder above belongs to root, so nobody can have replaced this one.
  if (user && canEnter(run, user) && isUnused(folder)) chownSync(folder, user.uid, user.gid)
}

/**
 * Returns the user for commands in such workspaces, or `undefined` for the user of the hub, also if no other user can
 * enter.
 */
function workspaceUser(workspaces: string): typeof NOBODY_USER | undefined {
  if (process.platform !== 'linux' || process.geteuid?.() !== 0) return undefined
  return canEnter(existing(workspaces), NOBODY_USER) ? NOBODY_USER : undefined
}

function isUnused(folder: string): boolean {
  const stats = lstatSync(folder)
  return stats.isDirectory() && stats.uid === 0 && readdirSync(folder).length === 0
}

function existing(folder: string): string {
  return existsSync(folder) ? folder : existing(dirname(folder))
}
