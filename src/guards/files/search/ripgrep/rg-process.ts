import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { closeSync, openSync, rmSync, unlinkSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startProcess } from '../../../../disk/start-process.ts'
import { ToolError } from '../../../../errors.ts'
import { fileAccess } from '../../access/choose-access.ts'
import type { RgCommand } from './rg-arguments.ts'

const MAX_STDERR = 4096

/** ripgrep cannot be started here; another engine has to do it. */
export class RipgrepMissing extends Error {}

/** How a process ended. */
export interface RgEnd {
  readonly exitCode: number | null
  /** The beginning of what it said. */
  readonly stderr: string
  /** How many complaints there were: one a file that could not be read. */
  readonly complaints: number
}

/** What to run, and who takes what it writes. */
export interface RgRun {
  readonly rgPath: string
  readonly command: RgCommand
  /** The open folder it works in. Where paths are all there is, what it reports of another folder is refused later. */
  readonly folder: number
  readonly signal: AbortSignal
  /** False: enough, end the process. */
  readonly onData: (chunk: Buffer) => boolean
}

/** Runs ripgrep to its end. When this returns or throws, the process is gone. */
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
  /** Removes what the process needed as long as it ran. */
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
      // The child still has our descriptors when it changes its folder, so this is the very folder that was judged.
      cwd: fileAccess.path(folder),
      env: {},
      stdio: ['ignore', 'pipe', 'pipe', ...descriptors],
    })
    return { child, clear }
  } catch (cause) {
    clear()
    if (ToolError.is(cause)) throw cause
    throw new RipgrepMissing('ripgrep could not be started', { cause })
  } finally {
    for (const descriptor of descriptors) closeSync(descriptor)
  }
}

function ended(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.on('error', (cause) => {
      // Without a process there is nothing to wait for; a failed kill is followed by `close` all the same.
      if (child.pid === undefined) reject(new RipgrepMissing('ripgrep could not be started', { cause }))
    })
    child.once('close', resolve)
  })
}

/** Somebody else killed it, or it has a defect; what it gave so far is not all. */
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

/** A file that no folder holds: nothing is left behind, whatever happens. */
function openNameless(text: string): number {
  const path = temporaryPath()
  const descriptor = openSync(path, 'wx+', 0o600)
  unlinkSync(path)
  writeSync(descriptor, text)
  return descriptor
}

/** Where a process cannot open what only a descriptor leads to. */
function writeNamed(text: string): string {
  const path = temporaryPath()
  writeFileSync(path, text, { flag: 'wx', mode: 0o600 })
  return path
}

function temporaryPath(): string {
  return join(tmpdir(), `.tool-hub-${randomUUID()}.tmp`)
}
