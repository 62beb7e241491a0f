import type { ChildProcess } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { startProcess } from '../../../../disk/start-process.ts'
import { type Descriptors, descriptorsFor, GOING, READY, readyScript } from '../launch-script.ts'
import type { OpenMessage, SeedMessage } from '../protocol.ts'
import { readLines } from '../read-lines.ts'
import { becomeScript, enterScript } from '../seed-script.ts'
import type { CellPipes } from './cell-pipes.ts'

/** What is heard of a shell. */
export interface ShellListener {
  /** The shell inside the jail waits. */
  stands(): void
  /** Its last word before it becomes the command. */
  goes(): void
  /** The command has taken its place, or all of it has ended. */
  isSilent(): void
  refuses(reason: string): void
  /** A line on its own output: its companion's. */
  companionSays(line: string): void
  exited(code: number | null, signal: NodeJS.Signals | null): void
  /** It could not be started. */
  failed(error: Error): void
}

const MOST_WORDS = 4096

/** The process of one cell: a shell that becomes a jail with another shell inside, which becomes the command. */
export class CellShell {
  readonly #child: ChildProcess
  readonly #at: Descriptors
  readonly #script: Writable
  #words = ''
  #isClosed = false

  /** Starts it as a seed, which waits. */
  constructor(seed: SeedMessage, pipes: CellPipes, env: Readonly<Record<string, string>>, listener: ShellListener) {
    this.#at = descriptorsFor(seed)
    const stdio = pipes.stdio(this.#at, seed.hasCompanion)
    this.#child = startProcess('/bin/sh', [], { cwd: '/', env, stdio, detached: true })
    this.#script = this.#child.stdio[this.#at.script] as Writable
    this.#child.on('error', (error) => this.pid === undefined && listener.failed(error))
    if (this.pid === undefined) return
    this.#child.on('exit', (code, signal) => listener.exited(code, signal))
    this.#child.on('close', () => {
      this.#isClosed = true
    })
    this.#listen(listener)
    this.#child.stdin!.write(enterScript(seed.entrances))
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  /** What the jail, or the shell that could not become one, said about itself. */
  get words(): string {
    return this.#words.trim().replace(/^.*?\bexec: /, '')
  }

  /** Whether nothing more will be heard of it. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Makes it a jail around another shell. */
  become(jail: OpenMessage): void {
    this.#child.stdin!.end(becomeScript(jail, this.#at))
    this.#script.write(readyScript(this.#at))
  }

  /** Says something to the shell inside. */
  say(text: string): void {
    this.#script.write(text)
  }

  /** Says the last thing to it. */
  sayLast(text: string): void {
    this.#script.end(text)
  }

  get hasHeardAll(): boolean {
    return this.#script.writableEnded
  }

  #listen(listener: ShellListener): void {
    const { stdin, stdout, stdio } = this.#child
    const errors = this.#child.stderr as Readable
    const report = stdio[this.#at.report] as Readable
    // What breaks these is the end of the process, which is heard of anyway.
    for (const stream of [stdin!, this.#script, errors, report]) stream.on('error', () => {})
    errors.on('data', (bytes: Buffer) => {
      if (this.#words.length < MOST_WORDS) this.#words += bytes.toString('utf8', 0, MOST_WORDS)
    })
    readLines(report, (line) => {
      if (line === READY) listener.stands()
      else if (line === GOING) listener.goes()
      else listener.refuses(line)
    })
    report.on('end', () => listener.isSilent())
    // Its first line says enough; what else it writes is nobody's, and nothing of it is kept.
    stdout?.on('data', (bytes: Buffer) => listener.companionSays(bytes.toString('utf8').split('\n')[0]!))
  }
}
