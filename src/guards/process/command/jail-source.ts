import { existsSync, readdirSync, realpathSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { SandboxLevel } from '../../../contracts/commands.ts'
import { errnoOf } from '../../../disk/errno.ts'
import { ToolError } from '../../../errors.ts'
import type { Findings } from '../../protected/survey.ts'
import type { CommandReach } from '../command-call.ts'
import { buildJail } from '../jail/build-jail.ts'
import { type CacheFolderName, cacheFolders } from '../jail/cache-folders.ts'
import { describeJail, type JailDescription } from '../jail/describe-jail.ts'
import { commandEnvironment } from '../jail/environment.ts'
import { gitIdentity } from '../jail/git-identity.ts'
import type { CommandLimits, Jail, JailSpec, SandboxReport } from '../jail/jail.ts'
import { probeOnce } from './probe-once.ts'

/** What the owner lets commands see and use. */
export interface JailOptions {
  /** Real folders; the first is where commands work that do not say. */
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
  /** Names of the hub's own variables that commands get. */
  readonly passEnv: readonly string[]
  /** Real paths inside the roots that commands never see. */
  readonly hide: readonly string[]
  /** Files that look like secrets are not seen either. */
  readonly hideSecrets: boolean
  readonly limits: CommandLimits
  /** The best level that is used, by the owner's word. */
  readonly level?: SandboxLevel
}

/**
 * What keeps package managers from trying again for a minute where no host can be reached. A proxy that refuses would say
 * more, but takes a process for each command; why it failed is added to the result all the same.
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

/** Makes jails as the owner wants them and as the files are just now. */
export class JailSource {
  readonly #options: JailOptions
  #level: SandboxLevel | undefined
  #caches: Promise<unknown> | undefined
  #gitIdentity: Promise<Record<string, string>> | undefined

  constructor(options: JailOptions) {
    this.#options = options
  }

  get level(): SandboxLevel | undefined {
    return this.#level
  }

  /** What the machine can, tried once: a jail that fails later is an error, never a reason to take a weaker one. */
  async report(): Promise<SandboxReport> {
    const report = await probeOnce(this.#options.level)
    this.#level = report.level
    return report
  }

  /** A jail that closes what was found in the roots. */
  async jail(found: Findings, proxySocket: string | undefined): Promise<Jail> {
    return buildJail(await this.#spec(found, proxySocket))
  }

  /** What a command could see, write and reach, for people; with `hosts` where the network is granted. */
  async describe(found: Findings, { hosts }: { readonly hosts?: readonly string[] } = {}): Promise<JailDescription> {
    const spec = await this.#spec(found, hosts && hosts.length > 0 ? '/run/tool-hub/proxy' : undefined)
    return describeJail(spec, await this.report(), { hosts })
  }

  /** What a command in such a jail can see and change of the files. */
  async reach(found: Findings): Promise<CommandReach> {
    const { roots, readable, writable, caches, hide, hideSecrets } = this.#options
    const more = realPaths([...writable, ...cacheFolders(caches).writable])
    const pathsOf = (some: JailOptions['roots']) => some.map(({ path }) => path)
    return {
      sees: [...pathsOf(roots), ...realPaths(readable), ...more],
      writes: [...pathsOf(roots.filter(({ mode }) => mode === 'write')), ...more],
      hidden: [...hide, ...found.unlisted, ...(hideSecrets ? found.secrets : [])],
      untrusted: pathsOf(roots.filter(({ path, untrusted }) => untrusted && readdirSync(path).length > 0)),
      sandbox: (await this.report()).level,
    }
  }

  async #spec(found: Findings, proxySocket: string | undefined): Promise<JailSpec> {
    const { roots, readable, writable, hide, hideSecrets, limits, caches } = this.#options
    const [{ level }, identity] = await Promise.all([this.report(), this.#identity(), this.#makeCaches()])
    const secrets = hideSecrets ? found.secrets : []
    const protect = placesToProtect(found, roots, secrets)
    return {
      level,
      roots,
      readable,
      writable: [...writable, ...cacheFolders(caches).writable],
      protect,
      hide: [...hide, ...found.unlisted, ...secrets],
      limits,
      proxySocket,
      environment: this.#environment(level, { ...identity, ...(proxySocket === undefined && NO_RETRIES) }),
    }
  }

  /** Asked once: who commits does not change while a hub runs. */
  #identity(): Promise<Record<string, string>> {
    this.#gitIdentity ??= gitIdentity(this.#options.roots[0]?.path)
    return this.#gitIdentity
  }

  #environment(level: SandboxLevel, ofJail: Readonly<Record<string, string>>): Record<string, string> {
    const { roots, caches, passEnv } = this.#options
    const passed = passEnv.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]))
    return commandEnvironment({
      // Without a jail there is no home but the user's own.
      ...(level === 'none' && { home: homedir() }),
      // The owner has named these folders: whose they are, git need not ask.
      git: { safeDirectories: roots.map(({ path }) => path) },
      // Without a jail git finds the user's settings itself, and there is a network.
      extra: { ...(level !== 'none' && ofJail), ...cacheFolders(caches).env, ...Object.fromEntries(passed) },
    })
  }

  /** A cache that was never used is made, as a jail can only let in what is there. */
  #makeCaches(): Promise<unknown> {
    const folders = cacheFolders(this.#options.caches).writable
    // Where that fails the jail leaves it out, and its description says so.
    this.#caches ??= Promise.allSettled(folders.map((folder) => mkdir(folder, { recursive: true, mode: 0o700 })))
    return this.#caches
  }
}

/** As far as they are there. */
function realPaths(paths: readonly string[]): string[] {
  return paths.filter((path) => existsSync(path)).map((path) => realpathSync(path))
}

/** Each is a mount of its own, and the time they take grows with their square: about a second for so many. */
const MAX_CLOSED = 500

/**
 * What a jail mounts read-only: what a link leads to counts as well, and so do the hooks that a repository does not have
 * yet. Throws where that and what is hidden are too many to be closed.
 */
export function placesToProtect(
  { places, gitFolders, unlisted }: Findings,
  roots: JailOptions['roots'],
  secrets: readonly string[] = [],
): string[] {
  const paths = [...places.values()].flatMap(({ path, link, isOnWay }) =>
    link !== undefined && !isOnWay ? [path, ...targetOf(path, resolve(dirname(path), link), roots)] : [path],
  )
  const protect = [...new Set([...paths, ...gitFolders.map((folder) => join(folder, 'hooks'))])]
  if (protect.length + secrets.length + unlisted.length > MAX_CLOSED) throw tooMany(protect.length, secrets)
  return protect
}

/** Nothing where a link leads nowhere, or to what only other users can enter. */
function targetOf(link: string, target: string, roots: JailOptions['roots']): string[] {
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

function tooMany(places: number, secrets: readonly string[]): ToolError {
  const message = `${places} protected places and ${secrets.length} files that look like secrets are in the sandbox roots; commands run with at most ${MAX_CLOSED} of both, because each must be closed.`
  return new ToolError('SANDBOX_UNAVAILABLE', secrets[0] ? `${message} The first secret is ${secrets[0]}.` : message, {
    hint: 'Move them out of the roots, name a smaller sandbox.root, or, if none of them is a secret, set sandbox.commands.secrets to visible.',
  })
}
