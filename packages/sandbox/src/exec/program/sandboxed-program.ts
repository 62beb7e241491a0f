import { access, mkdir, realpath, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import {
  type CommandLimits,
  DEFAULT_COMMAND_LIMITS,
  type ProgramAccess,
  type RunningProgram,
  type SandboxLevel,
  ToolError,
} from '@tool-hub/core'
import { errnoOf, isWithin } from '@tool-hub/core/lib'
import { quotePath } from '../../files/file-error.ts'
import type { SetAside } from '../../protected/disk/index.ts'
import { type KeptCommand, PlaceKeeper } from '../../protected/keeper/index.ts'
import { placesToProtect } from '../command/sandbox-factory.ts'
import { nodeFolder, type ProcessLimits } from '../host/host.ts'
import { buildSandbox } from '../isolation/build-sandbox.ts'
import { commandEnvironment } from '../isolation/environment.ts'
import { grantedMounts } from '../isolation/mounts.ts'
import { SANDBOX_HOME, type SandboxLaunch, type SandboxSpec, sandboxUser } from '../isolation/sandbox.ts'
import type { Executable, ProgramSettings } from './program-request.ts'

/** A sandbox and how its program is started in it. */
export interface ProgramSandbox {
  readonly sandbox: SandboxLaunch
  /** The path of the program in the sandbox. */
  readonly program: string
  readonly cwd: string
  /** Closes what was opened for the program. */
  readonly release: () => Promise<void>
  /** To be called when the program runs. */
  readonly onStarted?: (program: RunningProgram) => void
}

/** A program to be sandboxed. */
export interface SandboxRequest {
  readonly executable: Executable
  /** A real path. */
  readonly cwd?: string
  readonly access: Required<ProgramAccess>
  readonly level: Exclude<SandboxLevel, 'none'>
}

/** A program lives as long as its hub: the sum of what it sends and receives means nothing. */
const NO_TRAFFIC_LIMIT = { maxBytes: Number.MAX_SAFE_INTEGER }

/** Builds the same sandbox as for a command: the system's folders, what the request names, and nothing else. */
export async function sandboxProgram(request: SandboxRequest, settings: ProgramSettings): Promise<ProgramSandbox> {
  const { executable, access, level } = request
  const grants = await findGrants(executable, access, settings.hidden)
  const folders = [...grants.writable, ...grants.readable]
  const cwd = await chooseFolder(request.cwd, folders)
  await createHidden(settings.hidden, folders)
  // As for a command, the owner of the writable folders determines the user.
  const roots = grants.writable.map((path) => ({ path, mode: 'write' as const }))
  const { isOther, ...user } = sandboxUser({ roots })
  const proxySettings = { limits: NO_TRAFFIC_LIMIT, ...(isOther && { owner: user }) }
  const proxy = access.hosts.length > 0 ? await settings.openProxy(access.hosts, proxySettings) : undefined
  const places = new ProgramPlaces(grants, settings)
  const release = async () => {
    try {
      await places.leave()
    } finally {
      await proxy?.close()
    }
  }
  try {
    const found = await places.enter()
    const spec: SandboxSpec = {
      level,
      roots,
      readable: grants.readable,
      writable: [],
      protect: placesToProtect(found, roots),
      hide: [...settings.hidden, ...found.unlisted, ...found.endpoints.filter((path) => !found.made.has(path))],
      limits: programLimits(settings.limits),
      proxySocket: proxy?.socket,
      environment: commandEnvironment({ path: grants.path, git: { safeDirectories: grants.writable } }),
    }
    refuseLeftOut(spec, folders)
    const sandbox = buildSandbox(spec)
    const program = isVisibleInSandbox(executable.path, folders) ? executable.path : executable.real
    return { sandbox, program, cwd, release, onStarted: (running) => places.stopWith(running) }
  } catch (error) {
    await release()
    throw error
  }
}

/** The limits of commands, except for processor time: a program runs for a long time. */
export function programLimits({ memoryBytes, processes, fileBytes, openFiles }: CommandLimits): ProcessLimits {
  return {
    cpuSeconds: Infinity,
    memoryBytes: memoryBytes ?? DEFAULT_COMMAND_LIMITS.memoryBytes,
    processes: processes ?? DEFAULT_COMMAND_LIMITS.processes,
    fileBytes: fileBytes ?? DEFAULT_COMMAND_LIMITS.fileBytes,
    openFiles: openFiles ?? DEFAULT_COMMAND_LIMITS.openFiles,
  }
}

/** A missing folder cannot be hidden, and a running program would see what the hub creates there later. */
async function createHidden(hidden: readonly string[], granted: readonly string[]): Promise<void> {
  for (const folder of hidden) {
    if (granted.some((path) => isWithin(path, folder))) await mkdir(folder, { recursive: true, mode: 0o700 })
  }
}

/** A program that lacks something it was granted fails in ways that nobody understands. */
function refuseLeftOut(spec: SandboxSpec, granted: readonly string[]): void {
  const { leftOut } = grantedMounts(spec, sandboxUser(spec))
  const missing = leftOut.find(({ path }) => granted.includes(path))
  if (missing === undefined) return
  throw new ToolError('PATH_DENIED', `Cannot give a sandboxed program ${quotePath(missing.path)}: it ${missing.why}.`, {
    hint: 'The program runs as the owner of its first writable folder. Give it folders that this user can enter.',
  })
}

/** A program runs as long as its hub: one check a second, and a hundredth of the time. */
const PACE = 10

/** Keeps protected places in the folders that a program may change as they were before it started, as for commands. */
class ProgramPlaces {
  readonly #keeper: PlaceKeeper
  readonly #running: KeptCommand = {
    onSetAside: warn,
    onReport: (text) => process.emitWarning(text, 'ToolHubWarning'),
    stop: () => void this.#program?.stop().catch(() => undefined),
  }
  #program: RunningProgram | undefined

  constructor({ readable, writable }: ProgramGrants, { protect, hidden, ledgerFolder, clock }: ProgramSettings) {
    const roots = writable.filter((path) => !writable.some((other) => path.startsWith(`${other}/`)))
    const ledger = roots.length > 0 ? ledgerFolder : undefined
    this.#keeper = new PlaceKeeper({ roots, readable, exact: protect, hidden, ledgerFolder: ledger, clock, pace: PACE })
  }

  /** Starts the watch; returns what the sandbox must close. */
  enter() {
    return this.#keeper.enter(this.#running)
  }

  /** Stops this program if it creates the same place again and again. */
  stopWith(program: RunningProgram): void {
    this.#program = program
  }

  async leave(): Promise<void> {
    await this.#keeper.leave(this.#running)
  }
}

function warn({ path, movedTo, problem, reason = 'is protected' }: SetAside): void {
  const outcome = problem === undefined ? `It is now ${movedTo}` : `It could not be renamed (${problem}): check it`
  process.emitWarning(
    `${path} ${reason}, and was created while a sandboxed program ran that may change its folder. ${outcome}.`,
    'ToolHubWarning',
  )
}

/** What is granted to the sandbox of a program; real paths. */
interface ProgramGrants {
  readonly readable: readonly string[]
  readonly writable: readonly string[]
  /** Folders that come first in PATH. */
  readonly path: readonly string[]
}

/** Grants what the request names and what the program itself needs: its file, the package around it, and Node. */
async function findGrants(
  executable: Executable,
  access: Required<ProgramAccess>,
  hidden: readonly string[],
): Promise<ProgramGrants> {
  const named = await Promise.all(access.readable.map(realGrant))
  const writable = await Promise.all(access.writable.map(realGrant))
  const node = await realpath(process.execPath)
  const isNodeVisible = isVisibleInSandbox(node, [])
  const own = await ownFolders(executable, [...named, ...writable])
  const readable = [...named, ...(isNodeVisible ? [] : [node]), ...own]
  for (const path of [...readable, ...writable]) refuseHidden(path, hidden)
  return { readable, writable, path: isNodeVisible ? [] : [dirname(node)] }
}

async function ownFolders({ path, real }: Executable, granted: readonly string[]): Promise<string[]> {
  const folders: string[] = []
  for (const place of new Set([path, real])) {
    if (isVisibleInSandbox(place, [...granted, ...folders])) continue
    const folder = await packageFolder(place)
    if (folder !== undefined) folders.push(folder)
    else if (place === real) folders.push(real)
  }
  return folders
}

async function realGrant(path: string): Promise<string> {
  try {
    return await realpath(resolve(path))
  } catch (error) {
    throw new ToolError('NOT_FOUND', `Cannot give a sandboxed program ${quotePath(path)}: ${errnoOf(error)}.`, {
      hint: 'Create it, or remove it from the readable and writable folders of the program.',
    })
  }
}

function refuseHidden(path: string, hidden: readonly string[]): void {
  const parent = hidden.find((folder) => isWithin(folder, path))
  if (parent === undefined) return
  throw new ToolError(
    'PATH_DENIED',
    `Cannot give a sandboxed program ${quotePath(path)}: the hub keeps its own files there.`,
    { hint: `Give it a folder outside of ${quotePath(parent)}.` },
  )
}

const SYSTEM_FOLDERS = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']

/** Whether a sandboxed program sees a real path: the system, Node, and what was granted. */
export function isVisibleInSandbox(path: string, granted: readonly string[]): boolean {
  const node = nodeFolder()
  return [...SYSTEM_FOLDERS, ...(node ? [node] : []), ...granted].some((folder) => isWithin(folder, path))
}

/** Marks the top folder of a Node package, or of a Python environment. */
const MARKER_FILES = ['package.json', 'pyvenv.cfg']
const MODULES = '/node_modules'

/**
 * The folder in which a program is installed with everything it loads: the outermost node_modules around it, since
 * packages find each other there, otherwise the nearest folder with a marker file. Never the home or a folder above it.
 */
export async function packageFolder(path: string, home: string = homedir()): Promise<string | undefined> {
  const modules = path.indexOf(`${MODULES}/`)
  if (modules !== -1) return path.slice(0, modules + MODULES.length)
  for (let folder = dirname(path); !isWithin(folder, home) && folder !== '/'; folder = dirname(folder)) {
    for (const name of MARKER_FILES) if (await exists(join(folder, name))) return folder
  }
  return undefined
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

/** Every sandbox has these, whatever they are outside. */
const ALWAYS_VISIBLE = ['/', '/tmp', SANDBOX_HOME]

/** The folder in which a sandboxed program runs: the requested one, else the hub's, the first granted, or an empty home. */
export async function chooseFolder(requested: string | undefined, granted: readonly string[]): Promise<string> {
  if (requested !== undefined) {
    if (ALWAYS_VISIBLE.includes(requested) || isVisibleInSandbox(requested, granted)) return requested
    throw new ToolError(
      'PATH_OUTSIDE_SANDBOX',
      `A sandboxed program does not see its folder ${quotePath(requested)}.`,
      {
        hint: 'Add it to the readable or writable folders of the program, or leave cwd out.',
      },
    )
  }
  for (const path of isVisibleInSandbox(process.cwd(), granted) ? [process.cwd()] : granted) {
    if ((await stat(path)).isDirectory()) return path
  }
  return SANDBOX_HOME
}
