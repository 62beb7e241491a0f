import type { Readable, Writable } from 'node:stream'
import {
  type Clock,
  type ProgramAccess,
  type ProgramEnd,
  type ProgramRequest,
  type RunningProgram,
  type SandboxLevel,
  ToolError,
} from '@tool-hub/core'
import { quotePath } from '../../files/file-error.ts'
import { type SelfReference, takenOver } from '../../system/index.ts'
import { commandCgroup } from '../host/cgroup.ts'
import type { SandboxLaunch } from '../isolation/sandbox.ts'
import { probeSandboxOnce, type SandboxReport } from '../probe/probe-sandbox.ts'
import { signalProcess } from '../spawner/sandbox-processes.ts'
import { type CommandProcess, SandboxHandle } from '../start/sandbox-handle.ts'
import { helperScript, launchScript } from '../start/shell-scripts.ts'
import { SpawnerLink } from '../start/spawner-link.ts'
import { startError } from '../start/start-error.ts'
import type { StartRequest } from '../start/starter.ts'
import { checkProgram, type Executable, findExecutable, type ProgramSettings, realFolder } from './program-request.ts'
import { type ProgramSandbox, programLimits, sandboxProgram } from './sandboxed-program.ts'

/**
 * Starts a program that runs until it is stopped, exits by itself, or its hub is gone. A small process of its own starts
 * it, notices when the hub is gone, for whatever reason, and ends all of it. The caller must read both of the program's
 * outputs: nothing is buffered here, so an output that nobody reads blocks the program as any full pipe does.
 */
export async function startProgram(request: ProgramRequest, settings: ProgramSettings): Promise<RunningProgram> {
  const { argv, cwd, env, access } = checkProgram(request)
  // A sandboxed program can do no more than the project's own code could.
  const own = access ? undefined : takenOver(argv, cwd)
  if (own) throw runsTheProject(argv[0]!, own)
  const folder = cwd === undefined ? undefined : await realFolder(cwd)
  const path = env.PATH ?? process.env.PATH ?? ''
  const executable = await findExecutable(argv[0]!, { path, cwd: folder ?? process.cwd() })
  const { program, onStarted, ...chosen } = await chooseSandbox(executable, folder, access, settings)
  const running = await launchProgram({ ...chosen, words: [program, ...argv.slice(1)], env, clock: settings.clock })
  onStarted?.(running)
  return running
}

/** The sandbox of a program: none unless it is requested, or if the owner accepts that this machine has none. */
async function chooseSandbox(
  executable: Executable,
  cwd: string | undefined,
  access: Required<ProgramAccess> | undefined,
  settings: ProgramSettings,
): Promise<ProgramSandbox> {
  const unsandboxed = {
    sandbox: unsandboxedLaunch(),
    program: executable.path,
    cwd: cwd ?? process.cwd(),
    release: async () => {},
  }
  if (!access) return unsandboxed
  const report = await probeSandboxOnce(settings.level)
  if (report.level !== 'none') return sandboxProgram({ executable, cwd, access, level: report.level }, settings)
  if (!settings.isSandboxRequired) return unsandboxed
  throw unavailable(executable, report)
}

const PASSED_VARIABLES = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TERM', 'TMPDIR', 'USER', 'SHELL']

/** No sandbox and no limits, for a program that the owner runs like any other, but without the hub's own variables. */
function unsandboxedLaunch(): SandboxLaunch {
  const passed = PASSED_VARIABLES.flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value]]
  })
  const env: Record<string, string> = Object.fromEntries(passed)
  return { level: 'none', key: 'program', file: '/usr/bin/env', args: ['--'], env, limits: programLimits({}) }
}

function unavailable({ path }: Executable, { weaknesses }: SandboxReport): ToolError {
  const reasons = weaknesses.filter((line) => /^(Not at level|Level)/.test(line))
  return new ToolError('SANDBOX_UNAVAILABLE', `${quotePath(path)} cannot be sandboxed on this machine.`, {
    fix: {
      key: 'sandbox.required',
      hint: `Install bubblewrap (apt install bubblewrap); run tool-hub doctor for details. ${reasons.join(' ')}`.trim(),
    },
  })
}

function runsTheProject(program: string, { manifest, name }: SelfReference): ToolError {
  return new ToolError('CONFIG_INVALID', `${program} would take ${name} from the project of ${manifest} itself.`, {
    hint: 'Anybody who can write that file could choose what runs. Name the file to run by its path, rename the project, or set another cwd.',
  })
}

/** A program with everything that was decided about it. */
interface ProgramLaunch extends Pick<StartRequest, 'sandbox' | 'words' | 'cwd' | 'env'> {
  readonly clock: Clock
  /** Closes what was opened for it; called once, after its end or if it did not start. */
  readonly release: () => Promise<void>
}

/** Runs a program in its sandbox, in the same way as a command. */
export async function launchProgram({ clock, release, ...launch }: ProgramLaunch): Promise<RunningProgram> {
  const request: StartRequest = { ...launch, pty: false }
  const { sandbox } = request
  const spawner = useProgramSpawner(sandbox)
  const releaseAll = async () => {
    spawner.release()
    await release()
  }
  try {
    const script = launchScript(request)
    const cgroup = sandbox.level === 'none' ? undefined : commandCgroup(sandbox.limits)
    const handle = new SandboxHandle(spawner.link, sandbox, cgroup)
    handle.open(sandbox, { isWarm: false })
    // A program does not belong to a call: only `stop` ends it.
    const started = await handle.start({ script, helper: helperScript(sandbox) }, new AbortController().signal)
    if ('kind' in started) throw await startError(started, request)
    return new ProgramHandle({ process: started, level: sandbox.level, clock, release: releaseAll })
  } catch (error) {
    await releaseAll()
    throw error
  }
}

/** A running program and what it runs in. */
interface ProgramHandleOptions {
  readonly process: CommandProcess
  readonly level: SandboxLevel
  readonly clock: Clock
  /** Called once, when nothing of the program is left. */
  readonly release: () => Promise<void>
}

const GRACE_MS = 2_000
const MAX_GRACE_MS = 600_000

/** A program that was started. */
export class ProgramHandle implements RunningProgram {
  readonly pid: number
  readonly sandbox: SandboxLevel
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  readonly ended: Promise<ProgramEnd>
  readonly #options: ProgramHandleOptions

  constructor(options: ProgramHandleOptions) {
    const { process, level } = options
    this.#options = options
    this.pid = process.pid!
    this.sandbox = level
    this.stdin = process.stdin
    this.stdout = process.stdout
    this.stderr = process.stderr
    // They break when the program ends, which is handled separately; the hub must not end with it.
    for (const stream of [this.stdin, this.stdout, this.stderr]) stream.on('error', () => {})
    this.ended = this.#end()
  }

  async stop({ graceMs = GRACE_MS }: { readonly graceMs?: number } = {}): Promise<void> {
    const waitMs = Math.round(Math.min(Math.max(0, graceMs) || 0, MAX_GRACE_MS))
    this.stdin.end()
    if (!(await this.#endsWithin(waitMs))) await this.#options.process.stop(waitMs)
    await this.ended
    // Nobody has ever read them, so nobody waits for the rest.
    for (const stream of [this.stdout, this.stderr]) if (stream.readableFlowing === null) stream.destroy()
  }

  async #end(): Promise<ProgramEnd> {
    const end = await this.#options.process.exited.then(
      ({ exitCode = null, signal = null }) => ({ code: exitCode, signal }),
      () => this.#endLost(),
    )
    // If something cannot be closed, the program has ended nevertheless.
    await this.#options.release().catch(() => {})
    return end
  }

  /** The spawner has died. A sandboxed program dies with it by itself. */
  #endLost(): ProgramEnd {
    if (this.sandbox === 'none') signalProcess(-this.pid, 'SIGKILL')
    return { code: null, signal: 'SIGKILL' }
  }

  #endsWithin(waitMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const cancel = this.#options.clock.after(waitMs, () => resolve(false))
      void this.ended.then(() => {
        cancel()
        resolve(true)
      })
    })
  }
}

interface SharedSpawner {
  readonly link: SpawnerLink
  users: number
}

/** By whether its sandboxes have private mounts. */
const spawners = new Map<boolean, SharedSpawner>()

/**
 * The spawner of programs like this one, shared by all of them for as long as there are any. It is not the spawner of
 * commands, which ends with its guard.
 */
function useProgramSpawner(sandbox: SandboxLaunch): { readonly link: SpawnerLink; release(): void } {
  const isPrivate = sandbox.hasPrivateMounts === true
  const known = spawners.get(isPrivate)
  const shared = known?.link.isOpen ? known : { link: new SpawnerLink(sandbox), users: 0 }
  spawners.set(isPrivate, shared)
  shared.users += 1
  return {
    link: shared.link,
    release() {
      shared.users -= 1
      // A spawner that has died was replaced by one with users of its own.
      if (shared.users > 0 || spawners.get(isPrivate) !== shared) return
      spawners.delete(isPrivate)
      void shared.link.close()
    },
  }
}
