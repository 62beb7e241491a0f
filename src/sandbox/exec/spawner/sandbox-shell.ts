import type { ChildProcess } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { startProcess } from '../../start-process.ts'
import {
  becomeScript,
  descriptorsFor,
  forEachLine,
  joinScript,
  type OpenMessage,
  type PrewarmMessage,
  READY,
  readyScript,
  type ShellDescriptors,
  STARTING,
} from '../start/protocol.ts'
import type { CommandPipes } from './command-pipes.ts'

/** The events of a shell. */
export interface ShellListener {
  /** The shell inside the sandbox waits for its command. */
  onReady(): void
  /** Its last report before it becomes the command. */
  onStarting(): void
  /** The report pipe was closed: the command has replaced the shell, or everything has ended. */
  onReportEnd(): void
  onRefused(reason: string): void
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
  readonly #descriptors: ShellDescriptors
  readonly #script: Writable
  #stderr = ''
  #isClosed = false

  /** Starts a shell that waits outside of any sandbox. */
  constructor(
    request: PrewarmMessage,
    pipes: CommandPipes,
    env: Readonly<Record<string, string>>,
    listener: ShellListener,
  ) {
    this.#descriptors = descriptorsFor(request)
    const stdio = pipes.stdio(this.#descriptors, request.hasHelper)
    this.#child = startProcess('/bin/sh', [], { cwd: '/', env, stdio, detached: true })
    this.#script = this.#child.stdio[this.#descriptors.script] as Writable
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

  /** Whether the last text was written to the shell inside. */
  get isInputEnded(): boolean {
    return this.#script.writableEnded
  }

  /** Turns it into a sandbox around another shell. */
  become(sandbox: OpenMessage): void {
    this.#child.stdin!.end(becomeScript(sandbox, this.#descriptors))
    this.#script.write(readyScript(this.#descriptors))
  }

  /** Writes to the shell inside. */
  write(text: string): void {
    this.#script.write(text)
  }

  /** Writes to the shell inside for the last time. */
  writeLast(text: string): void {
    this.#script.end(text)
  }

  #listen(listener: ShellListener): void {
    const { stdin, stdout, stdio } = this.#child
    const errors = this.#child.stderr as Readable
    const report = stdio[this.#descriptors.report] as Readable
    // They break when the process exits, which is handled anyway.
    for (const stream of [stdin!, this.#script, errors, report]) stream.on('error', () => {})
    errors.on('data', (bytes: Buffer) => {
      if (this.#stderr.length < MAX_STDERR) this.#stderr += bytes.toString('utf8', 0, MAX_STDERR)
    })
    forEachLine(report, (line) => {
      if (line === READY) listener.onReady()
      else if (line === STARTING) listener.onStarting()
      else listener.onRefused(line)
    })
    report.on('end', () => listener.onReportEnd())
    // The first line is enough; the rest of the helper's output is discarded.
    stdout?.on('data', (bytes: Buffer) => listener.onHelperLine(bytes.toString('utf8').split('\n')[0]!))
  }
}
