import type { ChildProcess } from 'node:child_process'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { startProcess } from '../../start-process.ts'
import { ownModule } from '../../system/index.ts'
import { inPrivateMounts, type SandboxLaunch } from '../isolation/sandbox.ts'
import { forEachLine, type HubMessage, parseSpawnerMessage, type SpawnerMessage, writeLine } from './protocol.ts'

/** A message about one sandbox. */
export type SandboxMessage = Exclude<SpawnerMessage, { type: 'hello' }>

/** Receives the messages about one sandbox, and the end of the spawner, which ends all sandboxes. */
export interface SandboxListener {
  onMessage(message: SandboxMessage): void
  /** `how` the spawner ended; absent if it was closed. */
  onLost(how?: string): void
}

/** It stores next to nothing, and the smaller it is, the faster it forks. */
const SMALL_HEAP = ['--max-old-space-size=64', '--max-semi-space-size=1', '--no-warnings']
const MAX_STDERR = 2_000
/** What the spawner waits for takes half of this at most, on a machine that is not overloaded. */
const ANSWER_MS = 60_000
/** Silence is counted in parts, so that a pause of the whole machine is not taken for silence of the spawner. */
const PARTS = 10

/**
 * The connection to the spawner, the small process that starts commands: a hub with a heap of 1 GB would pay 42 ms for
 * every fork. The spawner keeps the hub's process alive only while the link is held.
 */
export class SpawnerLink {
  readonly #child: ChildProcess
  readonly #answerMs: number
  readonly #listeners = new Map<number, SandboxListener>()
  readonly #ended: Promise<void>
  #state: 'open' | 'closing' | 'ended' = 'open'
  #stderr = ''
  #holds = 0
  #nextId = 1

  /** Starts a spawner for sandboxes like this one. `answerMs`: see `expect`. */
  constructor(sandbox: Pick<SandboxLaunch, 'hasPrivateMounts'>, answerMs: number = ANSWER_MS) {
    this.#answerMs = answerMs
    const { file, flags } = ownModule('sandbox/exec/spawner/spawner-main')
    const words = inPrivateMounts(sandbox, [process.execPath, ...SMALL_HEAP, ...flags, fileURLToPath(file)])
    // A process group of its own: Ctrl-C in a terminal is for the hub, which ends the spawner in order.
    this.#child = startProcess(words[0]!, words.slice(1), {
      detached: true,
      cwd: '/',
      env: { TMPDIR: tmpdir() },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    this.#ended = this.#listen()
    this.#keepAlive(false)
  }

  /** False after the spawner has ended: the next command needs another one. */
  get isOpen(): boolean {
    return this.#state !== 'ended'
  }

  /** Registers a listener for a new sandbox; returns the sandbox's id. */
  listen(listener: SandboxListener): number {
    const id = this.#nextId++
    this.#listeners.set(id, listener)
    return id
  }

  /** Ends the listening for a sandbox that has ended. */
  release(id: number): void {
    this.#listeners.delete(id)
    this.send({ type: 'release', id })
  }

  send(message: HubMessage): void {
    if (this.isOpen) writeLine(this.#child.stdin!, message)
  }

  /** Keeps the hub's process alive until the returned function is called. */
  hold(): () => void {
    if (this.#holds++ === 0) this.#keepAlive(true)
    let isHeld = true
    return () => {
      if (isHeld && --this.#holds === 0) this.#keepAlive(false)
      isHeld = false
    }
  }

  /**
   * Waits for a report of the spawner. If it does not come within `answerMs` and the given time, the spawner hangs: it is
   * killed, and with it everything that it has started.
   */
  expect(report: Promise<unknown>, withinMs = 0): void {
    let parts = PARTS
    const look = () => {
      if (parts-- > 0) return
      this.#stderr += 'It did not answer.'
      this.#child.kill('SIGKILL')
    }
    const timer = setInterval(look, (this.#answerMs + withinMs) / PARTS).unref()
    void report.finally(() => clearInterval(timer))
  }

  /** Ends the spawner and everything it has started. */
  async close(): Promise<void> {
    if (this.#state === 'open') this.#state = 'closing'
    const letGo = this.hold()
    this.#child.stdin!.end()
    this.expect(this.#ended)
    await this.#ended
    letGo()
  }

  #listen(): Promise<void> {
    const { stdin, stdout, stderr } = this.#child
    // It breaks when the process exits, which is handled below.
    stdin!.on('error', () => {})
    stderr!.setEncoding('utf8').on('data', (text: string) => {
      if (this.#stderr.length < MAX_STDERR) this.#stderr += text
    })
    forEachLine(stdout!, (line) => this.#receive(line))
    return new Promise((resolve) => {
      const end = (how: string) => {
        this.#end(how)
        resolve()
      }
      this.#child.on('error', (error) => end(error.message))
      // Not on `exit`: everything that it has written before is read first.
      this.#child.on('close', (code, signal) => end(`it ended with ${signal ?? code}. ${this.#stderr}`.trim()))
    })
  }

  #receive(line: string): void {
    try {
      const message = parseSpawnerMessage(line)
      if (message.type !== 'hello') this.#listeners.get(message.id)?.onMessage(message)
    } catch (error) {
      // A process that sends anything else cannot be trusted with processes. Its end is handled like any other.
      this.#stderr += String(error)
      this.#child.kill('SIGKILL')
    }
  }

  #end(how: string): void {
    const wasClosed = this.#state === 'closing'
    this.#state = 'ended'
    const listeners = [...this.#listeners.values()]
    this.#listeners.clear()
    for (const listener of listeners) listener.onLost(wasClosed ? undefined : how)
  }

  #keepAlive(isAlive: boolean): void {
    const { stdin, stdout, stderr } = this.#child
    for (const handle of [this.#child, stdin, stdout, stderr] as { ref?(): void; unref?(): void }[]) {
      if (isAlive) handle.ref?.()
      else handle.unref?.()
    }
  }
}
