import { existsSync, readdirSync, realpathSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { type SandboxLevel, ToolError } from '@tool-hub/core'
import { errnoOf, once } from '@tool-hub/core/lib'
import type { KeptFindings } from '../../protected/keeper/index.ts'
import type { SurveyFindings } from '../../protected/survey/index.ts'
import type { CommandReach } from '../command-call.ts'
import type { ProcessLimits } from '../host/host.ts'
import { buildSandbox } from '../isolation/build-sandbox.ts'
import {
  type CacheFolderName,
  type CacheFolders,
  cacheFolders,
  commandEnvironment,
  gitIdentity,
} from '../isolation/environment.ts'
import { SANDBOX_HOME, type SandboxLaunch, type SandboxSpec } from '../isolation/sandbox.ts'
import { describeSandboxSpec, type SandboxDescription } from '../probe/describe-sandbox.ts'
import { probeSandboxOnce, type SandboxReport } from '../probe/probe-sandbox.ts'

/** What the owner lets commands see and use. */
export interface SandboxSettings {
  /** Real folders; commands work in the first one by default. */
  readonly roots: ReadonlyArray<{
    readonly path: string
    readonly mode: 'read' | 'write'
    /** What is read there counts as content from outside. */
    readonly untrusted?: boolean
  }>
  readonly readable: readonly string[]
  readonly writable: readonly string[]
  /** Tool caches that commands may use. */
  readonly caches: readonly CacheFolderName[]
  /** Names of the hub's own variables that are passed to commands. */
  readonly passEnv: readonly string[]
  /** Real paths inside the roots that commands never see. */
  readonly hide: readonly string[]
  /** Whether files that look like secrets are hidden too. */
  readonly hideSecrets: boolean
  readonly limits: ProcessLimits
  /** The best level that is used, if the owner limits it. */
  readonly level?: SandboxLevel
}

/**
 * Keeps package managers from retrying for a minute if no host can be reached. A proxy that refuses would say more, but
 * takes a process for each command; the reason of the failure is added to the result anyway.
 */
const NO_RETRIES = {
  npm_config_fetch_retries: '0',
  YARN_HTTP_RETRY: '0',
  PIP_RETRIES: '0',
  UV_HTTP_RETRIES: '0',
  POETRY_REQUESTS_MAX_RETRIES: '0',
  BUNDLE_RETRY: '0',
  CARGO_NET_RETRY: '0',
}

/** Builds sandboxes from the owner's settings and the current state of the files. */
export class SandboxFactory {
  readonly #settings: SandboxSettings
  readonly #caches: CacheFolders
  #report: SandboxReport | undefined

  constructor(settings: SandboxSettings) {
    this.#settings = settings
    this.#caches = cacheFolders(settings.caches)
  }

  get level(): SandboxLevel | undefined {
    return this.#report?.level
  }

  /** What the machine can do, probed once: a sandbox that fails later is an error, never a reason to use a weaker one. */
  async report(): Promise<SandboxReport> {
    this.#report ??= await probeSandboxOnce(this.#settings.level)
    return this.#report
  }

  /** A sandbox that closes what was found in the roots. */
  async build(found: KeptFindings, proxySocket: string | undefined): Promise<SandboxLaunch> {
    return buildSandbox(await this.#spec(found, proxySocket))
  }

  /** Describes what a command could see, write and reach; with `hosts` if the network is granted. */
  async describe(
    found: KeptFindings,
    { hosts }: { readonly hosts?: readonly string[] } = {},
  ): Promise<SandboxDescription> {
    const spec = await this.#spec(found, hosts && hosts.length > 0 ? '/run/tool-hub/proxy' : undefined)
    return describeSandboxSpec(spec, await this.report(), { hosts })
  }

  /** What a command in such a sandbox can see and change of the files. */
  async reach(found: KeptFindings): Promise<CommandReach> {
    const { roots, readable, writable } = this.#settings
    const more = realPaths([...writable, ...this.#caches.writable])
    const pathsOf = (some: SandboxSettings['roots']) => some.map(({ path }) => path)
    return {
      sees: [...pathsOf(roots), ...realPaths(readable), ...more],
      writes: [...pathsOf(roots.filter(({ mode }) => mode === 'write')), ...more],
      hidden: this.#closed(found).hide,
      untrusted: pathsOf(roots.filter(({ path, untrusted }) => untrusted && readdirSync(path).length > 0)),
      sandbox: (await this.report()).level,
    }
  }

  async #spec(found: KeptFindings, proxySocket: string | undefined): Promise<SandboxSpec> {
    const { roots, readable, writable, limits, passEnv } = this.#settings
    const { level, environment } = await this.#foundation()
    const passed = passEnv.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]))
    return {
      level,
      roots,
      readable,
      writable: [...writable, ...this.#caches.writable],
      ...this.#closed(found),
      limits,
      proxySocket,
      isReusable: true,
      environment: {
        ...environment,
        ...(level !== 'none' && this.#isReadOnly('/tmp') && { TMPDIR: SANDBOX_HOME }),
        ...(level !== 'none' && proxySocket === undefined && NO_RETRIES),
        ...Object.fromEntries(passed),
      },
    }
  }

  #isReadOnly(path: string): boolean {
    const { roots, readable, writable } = this.#settings
    const isWritable = writable.includes(path) || roots.some((root) => root.path === path && root.mode === 'write')
    return !isWritable && (readable.includes(path) || roots.some((root) => root.path === path))
  }

  /** What commands may not change and do not see. Secrets that commands made are hidden as long as there is room. */
  #closed(found: KeptFindings): Pick<SandboxSpec, 'protect' | 'hide'> {
    const { roots, hide, hideSecrets, readable, writable } = this.#settings
    const secrets = hideSecrets ? found.secrets : []
    const isOwners = (path: string) => !found.made.has(path)
    // A socket that the owner names itself is meant to be used.
    const granted = new Set(realPaths([...readable, ...writable]))
    const owned = [...secrets, ...found.endpoints.filter((path) => !granted.has(path))].filter(isOwners)
    const protect = placesToProtect(found, roots, owned)
    const room = MAX_CLOSED - protect.length - owned.length - found.unlisted.length
    const made = secrets.filter((path) => !isOwners(path)).slice(0, Math.min(room, MAX_MADE_HIDDEN))
    return { protect, hide: [...hide, ...found.unlisted, ...owned, ...made] }
  }

  /**
   * What stays the same while a hub runs: the level, the author of commits, and the environment that all commands have.
   * Creates caches that were never used, as a sandbox can only show what exists.
   */
  readonly #foundation = once(async () => {
    const { roots } = this.#settings
    const [{ level }, identity] = await Promise.all([
      this.report(),
      gitIdentity(roots[0]?.path),
      // If that fails, the sandbox leaves the folder out, and its description says so.
      Promise.allSettled(this.#caches.writable.map((folder) => mkdir(folder, { recursive: true, mode: 0o700 }))),
    ])
    const environment = commandEnvironment({
      // Without a sandbox, the user's home is the only one.
      ...(level === 'none' && { home: homedir() }),
      // The owner has named these folders: git need not check who owns them.
      git: { safeDirectories: roots.map(({ path }) => path) },
      // Without a sandbox git finds the user's settings itself.
      extra: { ...(level !== 'none' && identity), ...this.#caches.env },
    })
    return { level, environment }
  })
}

/** Those that exist. */
function realPaths(paths: readonly string[]): string[] {
  return paths.filter((path) => existsSync(path)).map((path) => realpathSync(path))
}

/** Each is a mount of its own, and their time grows with the square of their number: about a second for this many. */
const MAX_CLOSED = 500
/** Of the secrets that commands have made: enough for what a person adds meanwhile, and too few to slow commands down. */
const MAX_MADE_HIDDEN = 100

/**
 * What a sandbox mounts read-only, including the targets of links and the hooks that a repository does not have yet.
 * Throws if these and the hidden files are too many.
 */
export function placesToProtect(
  { places, gitFolders, unlisted }: SurveyFindings,
  roots: SandboxSettings['roots'],
  hidden: readonly string[] = [],
): string[] {
  // Git itself writes what has a state.
  const closed = [...places.values()].filter(({ state }) => state === undefined)
  const paths = closed.flatMap(({ path, link, isOnWay }) =>
    link !== undefined && !isOnWay ? [path, ...targetOf(path, resolve(dirname(path), link), roots)] : [path],
  )
  const protect = [...new Set([...paths, ...gitFolders.map((folder) => join(folder, 'hooks'))])]
  if (protect.length + hidden.length + unlisted.length > MAX_CLOSED) throw tooMany(protect.length, hidden)
  return protect
}

/** Empty if a link leads nowhere, or to a place that only other users can enter. */
function targetOf(link: string, target: string, roots: SandboxSettings['roots']): string[] {
  try {
    return [realpathSync(link)]
  } catch (error) {
    const isInRoots = roots.some(({ path }) => target.startsWith(`${path}/`))
    if (errnoOf(error) !== 'EACCES' || !isInRoots) return []
    throw new ToolError(
      'SANDBOX_UNAVAILABLE',
      `${link} cannot be followed to ${target}: a folder above it is closed.`,
      {
        hint: 'End background commands that change its mode, or make it readable for the user of the hub.',
        cause: error,
      },
    )
  }
}

function tooMany(places: number, hidden: readonly string[]): ToolError {
  const message = `The sandbox roots contain ${places} protected places and ${hidden.length} secrets, sockets and pipes. Each must be closed, and commands run with at most ${MAX_CLOSED} of both.`
  return new ToolError('SANDBOX_UNAVAILABLE', hidden[0] ? `${message} The first to hide is ${hidden[0]}.` : message, {
    hint: 'Move them into a folder outside of the roots, delete what nobody needs, or name a smaller sandbox.root.',
  })
}
