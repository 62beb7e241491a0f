import { mkdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import type { SandboxLevel } from '../../../contracts/commands.ts'
import { buildJail } from '../jail/build-jail.ts'
import { type CacheFolderName, cacheFolders } from '../jail/cache-folders.ts'
import { describeJail, type JailDescription } from '../jail/describe-jail.ts'
import { commandEnvironment } from '../jail/environment.ts'
import type { CommandLimits, Jail, JailSpec, SandboxReport } from '../jail/jail.ts'
import { findSecretFiles } from '../jail/secret-files.ts'
import { probeOnce } from './probe-once.ts'
import { SecretWatch } from './secret-watch.ts'

/** What the owner lets commands see and use. */
export interface JailOptions {
  /** Real folders; the first is where commands work that do not say. */
  readonly roots: ReadonlyArray<{ readonly path: string; readonly mode: 'read' | 'write' }>
  readonly readable: readonly string[]
  readonly writable: readonly string[]
  /** Tool caches that commands may use. */
  readonly caches: readonly CacheFolderName[]
  /** Names of the hub's own variables that commands get. */
  readonly passEnv: readonly string[]
  /** Real paths inside the roots: seen and never changed; never seen. */
  readonly protect: readonly string[]
  readonly hide: readonly string[]
  /** Files that look like secrets are not seen either. */
  readonly hideSecrets: boolean
  readonly limits: CommandLimits
  /** The best level that is used, by the owner's word. */
  readonly level?: SandboxLevel
}

/** Makes jails as the owner wants them and as the files are just now. */
export class JailSource {
  readonly #options: JailOptions
  readonly #secrets: SecretWatch
  #level: SandboxLevel | undefined
  #caches: Promise<unknown> | undefined

  constructor(options: JailOptions) {
    this.#options = options
    const roots = options.roots.map(({ path }) => path)
    this.#secrets = new SecretWatch(async () =>
      options.hideSecrets ? findSecretFiles(roots) : { files: [], isComplete: true, hasChanged: () => false },
    )
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

  async jail(proxySocket: string | undefined): Promise<Jail> {
    return buildJail(await this.#spec(proxySocket))
  }

  /** What a command could see, write and reach, for people; with `hosts` where the network is granted. */
  async describe({ hosts }: { readonly hosts?: readonly string[] } = {}): Promise<JailDescription> {
    const spec = await this.#spec(hosts && hosts.length > 0 ? '/run/tool-hub/proxy' : undefined)
    const { isComplete } = await this.#secrets.known()
    const described = describeJail(spec, await this.report(), { hosts })
    return isComplete
      ? described
      : { ...described, notes: [...described.notes, NOT_ALL], lines: [...described.lines, NOT_ALL] }
  }

  /** A command has ended: the files may be others now. */
  refresh(): void {
    void this.#secrets.refresh()
  }

  async #spec(proxySocket: string | undefined): Promise<JailSpec> {
    const { roots, readable, writable, protect, hide, limits, caches } = this.#options
    const [{ level }, secrets] = await Promise.all([this.report(), this.#secrets.known(), this.#makeCaches()])
    return {
      level,
      roots,
      readable,
      writable: [...writable, ...cacheFolders(caches).writable],
      protect,
      hide: [...hide, ...secrets.files],
      limits,
      proxySocket,
      environment: this.#environment(level),
    }
  }

  #environment(level: SandboxLevel): Record<string, string> {
    const { roots, caches, passEnv } = this.#options
    const passed = passEnv.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]))
    return commandEnvironment({
      // Without a jail there is no home but the user's own.
      ...(level === 'none' && { home: homedir() }),
      // The owner has named these folders: whose they are, git need not ask.
      git: { safeDirectories: roots.map(({ path }) => path) },
      extra: { ...cacheFolders(caches).env, ...Object.fromEntries(passed) },
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

const NOT_ALL =
  'Not all files were looked at for secrets: there are too many. Keep what must stay hidden outside of the roots.'
