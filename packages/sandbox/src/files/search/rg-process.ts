import { type ChildProcess, execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { closeSync, openSync, rmSync, unlinkSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isOutOfResources, lazyModule, resourceError, ToolError } from '@tool-hub/core'
import { errnoOf } from '@tool-hub/core/lib'
import { startProcess } from '../../start-process.ts'
import { fileAccess } from '../access/choose-access.ts'
import type { RgCommand } from './search-job.ts'

const MAX_STDERR = 4096

const MAX_START_MS = 60_000

/** How to install the ripgrep binary. */
export const RIPGREP_HINT = 'Install it with the optional dependencies: npm install --include=optional.'

const loadRipgrepPath = lazyModule(async () => (await import('@vscode/ripgrep')).rgPath)

const typesByPath = new Map<string, ReadonlySet<string>>()

/** How a ripgrep process ended. */
export interface RgEnd {
  readonly exitCode: number | null
  /** The beginning of its error output. */
  readonly stderr: string
  /** The number of error messages: one per file that could not be read. */
  readonly complaints: number
}

/** What to run, and who reads its output. */
export interface RgRun {
  readonly rgPath: string
  readonly command: RgCommand
  /** The open folder it works in. Without descriptors the path may lead elsewhere; its reports are then refused later. */
  readonly folder: number
  readonly signal: AbortSignal
  /** Returns false to end the process. */
  readonly onData: (chunk: Buffer) => boolean
}

/** Runs ripgrep to its end. When this returns or throws, the process has exited. */
export async function runRipgrep({ rgPath, command, folder, signal, onData }: RgRun): Promise<RgEnd> {
  const { child, clear } = start(rgPath, command, folder)
  const kill = () => child.kill('SIGKILL')
  let failure: unknown
  let isEnough = false
  child.stdout!.on('data', (chunk: Buffer) => {
    if (isEnough) return
    try {
      isEnough = !onData(chunk)
    } catch (error) {
      failure = error
      isEnough = true
    }
    if (isEnough) kill()
  })
  const complaints = collectComplaints(child)
  signal.addEventListener('abort', kill)
  if (signal.aborted) kill()
  try {
    const exitCode = await ended(child)
    if (failure !== undefined) throw failure
    const isOurs = isEnough || signal.aborted
    if (!isOurs && (exitCode === null || exitCode > 2)) throw brokeOff(exitCode, complaints.stderr)
    return { exitCode, ...complaints }
  } finally {
    signal.removeEventListener('abort', kill)
    clear()
  }
}

/** The first descriptor of an ignore file in the process; 0 to 2 are the usual ones. */
const FIRST_IGNORE_FILE = 3

interface Started {
  readonly child: ChildProcess
  /** Removes the files that the process needed while it ran. */
  readonly clear: () => void
}

function start(rgPath: string, { args, ignoreFiles }: RgCommand, folder: number): Started {
  const named: string[] = []
  const descriptors: number[] = []
  const clear = () => {
    for (const path of named) rmSync(path, { force: true })
  }
  try {
    for (const text of ignoreFiles) {
      if (fileAccess.level === 'descriptors') descriptors.push(openNameless(text))
      else named.push(writeNamed(text))
    }
    const nameless = descriptors.map((_, index) => `/proc/self/fd/${FIRST_IGNORE_FILE + index}`)
    const child = startProcess(rgPath, args([...nameless, ...named]), {
      // The child still has our descriptors when it changes its folder, so this is the folder that was checked.
      cwd: fileAccess.path(folder),
      env: {},
      stdio: ['ignore', 'pipe', 'pipe', ...descriptors],
    })
    return { child, clear }
  } catch (cause) {
    clear()
    if (ToolError.is(cause)) throw cause
    throw notStarted(cause)
  } finally {
    for (const descriptor of descriptors) closeSync(descriptor)
  }
}

function ended(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.on('error', (cause) => {
      // Without a process there is nothing to wait for; after a failed kill, `close` still follows.
      if (child.pid === undefined) reject(notStarted(cause))
    })
    child.once('close', resolve)
  })
}

/** Another process killed it, or it crashed: its output is incomplete. */
function brokeOff(exitCode: number | null, stderr: string): ToolError {
  const how = exitCode === null ? 'was killed' : `ended with code ${exitCode}`
  return new ToolError('UPSTREAM_ERROR', `ripgrep ${how} before it was done.`, { details: { stderr } })
}

function collectComplaints(child: ChildProcess): { stderr: string; complaints: number } {
  const collected = { stderr: '', complaints: 0 }
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    if (collected.stderr.length < MAX_STDERR) collected.stderr = (collected.stderr + text).slice(0, MAX_STDERR)
    collected.complaints += text.match(/^rg: /gm)?.length ?? 0
  })
  return collected
}

/** A file without a name, so that nothing is left behind whatever happens. */
function openNameless(text: string): number {
  const path = temporaryPath()
  const descriptor = openSync(path, 'wx+', 0o600)
  unlinkSync(path)
  writeSync(descriptor, text)
  return descriptor
}

/** A named file, for systems on which a process cannot open a file by its descriptor. */
function writeNamed(text: string): string {
  const path = temporaryPath()
  writeFileSync(path, text, { flag: 'wx', mode: 0o600 })
  return path
}

function temporaryPath(): string {
  return join(tmpdir(), `.tool-hub-${randomUUID()}.tmp`)
}

/** Whether this machine can search, for `tool-hub doctor`. */
export interface RipgrepStatus {
  readonly isAvailable: boolean
  /** The version, or why it is not available. */
  readonly detail: string
}

/** Starts ripgrep to find out whether it runs on this machine. */
export async function checkRipgrep(find: () => Promise<string> = ripgrepPath): Promise<RipgrepStatus> {
  try {
    const version = await output(await find(), '--version')
    return { isAvailable: true, detail: version.split('\n')[0]!.trim() }
  } catch (error) {
    if (!ToolError.is(error)) throw error
    return { isAvailable: false, detail: error.message }
  }
}

/** The path of the ripgrep binary of this platform's package; SANDBOX_UNAVAILABLE if that package is not installed. */
export async function ripgrepPath(): Promise<string> {
  try {
    return await loadRipgrepPath()
  } catch (error) {
    if (isOutOfResources(error)) throw error
    // The package throws while it loads if the binary of this platform was not installed.
    throw missing('its package for this platform is not installed', error)
  }
}

/** The names of the file types that the ripgrep binary at `rgPath` knows. */
export async function fileTypes(rgPath: string): Promise<ReadonlySet<string>> {
  const known = typesByPath.get(rgPath)
  if (known) return known
  const list = await output(rgPath, '--type-list')
  const types = new Set(list.split('\n').map((line) => line.slice(0, line.indexOf(':'))))
  types.delete('')
  typesByPath.set(rgPath, types)
  return types
}

function output(rgPath: string, argument: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(rgPath, ['--no-config', argument], { env: {}, timeout: MAX_START_MS }, (error, stdout) => {
      if (error) reject(notStarted(error))
      else resolve(stdout)
    })
  })
}

function notStarted(cause: unknown): ToolError {
  const why = errnoOf(cause) ?? (cause instanceof Error ? cause.message : String(cause))
  return resourceError(cause, 'ripgrep could not be started') ?? missing(`it does not start (${why})`, cause)
}

function missing(why: string, cause: unknown): ToolError {
  return new ToolError('SANDBOX_UNAVAILABLE', `Searching needs ripgrep, which is missing: ${why}.`, {
    hint: RIPGREP_HINT,
    cause,
  })
}
