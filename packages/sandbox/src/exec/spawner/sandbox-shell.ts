import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import type { Readable, Writable } from 'node:stream'
import { startProcess } from '../../start-process.ts'
import { forEachLine, type OpenMessage, type PrewarmMessage } from '../start/protocol.ts'
import {
  becomeScript,
  CLEAN,
  descriptorsFor,
  EXITED,
  endsScript,
  joinScript,
  PIPED,
  pipesScript,
  READY,
  readyScript,
  type ShellDescriptors,
  STARTING,
  SUPERVISING,
  SUPERVISOR,
  superviseScript,
  UNCLEAN,
} from '../start/shell-scripts.ts'
import type { ShellPipes } from './command-pipes.ts'

/** The events of a shell. */
export interface ShellListener {
  /** The shell inside a reusable sandbox has created the pipes of its command, and waits for it. */
  onPiped(): void
  /** The shell inside the sandbox waits for its command. */
  onReady(): void
  /** Its last report before it becomes the command. */
  onStarting(): void
  /** The report pipe was closed: the command has replaced the shell, or everything has ended. */
  onReportEnd(): void
  onRefused(reason: string): void
  /** The supervisor of a reusable sandbox reports how a command has ended. */
  onExited(exitCode: number): void
  /** It has ended everything that the command left; `isClean` if that was possible. */
  onCleaned(isClean: boolean): void
  /** The helper process has written a line. */
  onHelperLine(line: string): void
  onExit(code: number | null, signal: NodeJS.Signals | null): void
  /** The shell could not be started. */
  onError(error: Error): void
}

const MAX_STDERR = 4096

/** The process of one sandbox: a shell that becomes a sandbox with another shell inside, which becomes the command. */
export class SandboxShell {
  readonly #child: ChildProcess
  readonly descriptors: ShellDescriptors
  readonly #isReusable: boolean
  readonly #script: Writable
  readonly #go = randomBytes(9).toString('base64')
  #stderr = ''
  #isClosed = false

  /** Starts a shell that waits outside of any sandbox. */
  constructor(
    request: PrewarmMessage,
    pipes: ShellPipes,
    env: Readonly<Record<string, string>>,
    listener: ShellListener,
  ) {
    this.descriptors = descriptorsFor(request)
    this.#isReusable = request.isReusable
    const stdio = pipes.stdio(this.descriptors, request.hasHelper)
    this.#child = startProcess('/bin/sh', [], { cwd: '/', env, stdio, detached: true })
    this.#script = this.#child.stdio[this.descriptors.script] as Writable
    this.#child.on('error', (error) => this.pid === undefined && listener.onError(error))
    if (this.pid === undefined) return
    this.#child.on('exit', (code, signal) => listener.onExit(code, signal))
    this.#child.on('close', () => {
      this.#isClosed = true
    })
    this.#listen(listener)
    this.#child.stdin!.write(joinScript(request.joinFiles))
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  /** What the sandbox, or the shell that could not become one, wrote to standard error. */
  get stderr(): string {
    return this.#stderr.trim().replace(/^.*?\bexec: /, '')
  }

  /** Whether it has exited and all of its output was read. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Turns it into a sandbox around another shell. */
  become(sandbox: OpenMessage): void {
    const [shell, script] = this.#isReusable
      ? [SUPERVISOR, superviseScript(this.descriptors, this.#go)]
      : ['/bin/sh', readyScript(this.descriptors)]
    this.#child.stdin!.end(becomeScript(sandbox, this.descriptors, shell))
    this.#script.write(script)
  }

  /** Writes to the shell inside. */
  write(text: string): void {
    this.#script.write(text)
  }

  /**
   * Gives the shell inside its command. One that is followed by another shell gets it as a group: everything is parsed
   * before anything runs, so that no text is left for the next shell if the command is refused.
   */
  writeCommand(script: string): void {
    if (this.#isReusable) this.#script.write(`{\n${endsScript(this.descriptors)}${script}}\n`)
    else this.#script.end(script)
  }

  /** Lets the supervisor start the shell for the next command, which creates its pipes. */
  startNext(): void {
    this.#script.write(`${this.#go}\n${pipesScript(this.descriptors)}`)
  }

  #listen(listener: ShellListener): void {
    const { stdin, stdout, stdio } = this.#child
    const errors = this.#child.stderr as Readable
    const report = stdio[this.descriptors.report] as Readable
    // They break when the process exits, which is handled anyway.
    for (const stream of [stdin!, this.#script, errors, report]) stream.on('error', () => {})
    errors.on('data', (bytes: Buffer) => {
      if (this.#stderr.length < MAX_STDERR) this.#stderr += bytes.toString('utf8', 0, MAX_STDERR)
    })
    forEachLine(report, (line) => {
      if (line === READY) listener.onReady()
      // Only now: the supervisor would read what is meant for the shell that it starts.
      else if (line === SUPERVISING) this.startNext()
      else if (line === PIPED) listener.onPiped()
      else if (line === STARTING) listener.onStarting()
      else if (line.startsWith(EXITED)) listener.onExited(Number(line.slice(EXITED.length)))
      else if (line === CLEAN || line === UNCLEAN) listener.onCleaned(line === CLEAN)
      else listener.onRefused(line)
    })
    report.on('end', () => listener.onReportEnd())
    // The first line is enough; the rest of the helper's output is discarded.
    stdout?.on('data', (bytes: Buffer) => listener.onHelperLine(bytes.toString('utf8').split('\n')[0]!))
  }
}
