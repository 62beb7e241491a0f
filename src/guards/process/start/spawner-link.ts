import type { ChildProcess } from 'node:child_process'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { startProcess } from '../../../disk/start-process.ts'
import { ownModule } from '../../../own-file.ts'
import type { Jail } from '../jail/jail.ts'
import { inPrivateMounts } from '../jail/private-mounts.ts'
import { type HubMessage, parseSpawnerMessage, type SpawnerMessage } from './protocol.ts'
import { readLines } from './read-lines.ts'

/** What is told about one jail. */
export type JailMessage = Exclude<SpawnerMessage, { type: 'hello' }>

/** Hears of one jail, and of the end of the spawner, which is the end of all of them. */
export interface JailListener {
  told(message: JailMessage): void
  /** `how` it ended; absent where it was closed. */
  lost(how?: string): void
}

/** It holds next to nothing, and the smaller it is the faster it forks. */
const SMALL = ['--max-old-space-size=64', '--max-semi-space-size=1', '--no-warnings']
const MOST_WORDS = 2_000

/**
 * The small process that starts commands, and the talk with it. A hub with a heap of 1 GB would pay 42 ms for every
 * fork. It keeps the hub's process alive only while a command is held.
 */
export class SpawnerLink {
  readonly #child: ChildProcess
  readonly #listeners = new Map<number, JailListener>()
  readonly #ended: Promise<void>
  #isOpen = true
  #isClosing = false
  #words = ''
  #held = 0
  #nextId = 1

  /** The process is for sandboxes like this one. */
  constructor(jail: Pick<Jail, 'hasPrivateMounts'>) {
    const { file, flags } = ownModule('guards/process/start/spawner/spawner-main')
    const words = inPrivateMounts(jail, [process.execPath, ...SMALL, ...flags, fileURLToPath(file)])
    // A group of its own: Ctrl-C in a terminal is for the hub, which ends it in order.
    this.#child = startProcess(words[0]!, words.slice(1), {
      detached: true,
      cwd: '/',
      env: { TMPDIR: tmpdir() },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    this.#ended = this.#listen()
    this.#keepAlive(false)
  }

  /** False when it has ended: the next command needs another. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Names a new jail and who hears of it. */
  listen(listener: JailListener): number {
    const id = this.#nextId++
    this.#listeners.set(id, listener)
    return id
  }

  forget(id: number): void {
    this.#listeners.delete(id)
    this.send({ type: 'forget', id })
  }

  send(message: HubMessage): void {
    if (this.#isOpen) this.#child.stdin!.write(`${JSON.stringify(message)}\n`)
  }

  /** Somebody waits for something of it, until the answer is called. */
  hold(): () => void {
    if (this.#held++ === 0) this.#keepAlive(true)
    let isHeld = true
    return () => {
      if (isHeld && --this.#held === 0) this.#keepAlive(false)
      isHeld = false
    }
  }

  /** Ends it and all it has started. */
  async close(): Promise<void> {
    this.#isClosing = true
    const letGo = this.hold()
    this.#child.stdin!.end()
    await this.#ended
    letGo()
  }

  #listen(): Promise<void> {
    const { stdin, stdout, stderr } = this.#child
    // It breaks when the process has gone, which is heard of by its end.
    stdin!.on('error', () => {})
    stderr!.setEncoding('utf8').on('data', (text: string) => {
      if (this.#words.length < MOST_WORDS) this.#words += text
    })
    readLines(stdout!, (line) => this.#heard(line))
    return new Promise((resolve) => {
      const end = (how: string) => {
        this.#end(how)
        resolve()
      }
      this.#child.on('error', (error) => end(error.message))
      // Not at its exit: what it has said before is heard first.
      this.#child.on('close', (code, signal) => end(`it ended with ${signal ?? code}. ${this.#words}`.trim()))
    })
  }

  #heard(line: string): void {
    try {
      const message = parseSpawnerMessage(line)
      if (message.type !== 'hello') this.#listeners.get(message.id)?.told(message)
    } catch (error) {
      // Whatever says such things is not to be trusted with processes; its end is heard of as any other.
      this.#words += String(error)
      this.#child.kill('SIGKILL')
    }
  }

  #end(how: string): void {
    this.#isOpen = false
    const listeners = [...this.#listeners.values()]
    this.#listeners.clear()
    for (const listener of listeners) listener.lost(this.#isClosing ? undefined : how)
  }

  #keepAlive(isAlive: boolean): void {
    const { stdin, stdout, stderr } = this.#child
    for (const handle of [this.#child, stdin, stdout, stderr] as { ref?(): void; unref?(): void }[]) {
      if (isAlive) handle.ref?.()
      else handle.unref?.()
    }
  }
}
