import { type FSWatcher, watch } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { type Clock, systemClock } from '../clock.ts'
import { errnoOf } from '../disk/errno.ts'
import { currentProcess, isAlive } from '../disk/process-identity.ts'
import { ToolError } from '../errors.ts'
import { didYouMean } from '../names.ts'
import type { ApprovalReply, ApprovalRequest } from '../result.ts'
import { InboxFiles } from './inbox-files.ts'
import { parseReply } from './parse-reply.ts'

/** A request in the inbox: without an answer, with one that is not fetched yet, or of a process that is gone. */
export interface InboxEntry {
  readonly state: 'waiting' | 'answered' | 'gone'
  readonly request: ApprovalRequest
}

type ReplyListener = (id: string, reply: unknown) => void

const POLL_MS = 2_000

/**
 * A folder through which one process asks and another answers: `<id>.json` is a request, `<id>.reply.json` its one
 * answer. Asking needs `open`; `list` and `answer` work in any process of this user.
 */
export class Inbox {
  readonly #folder: string
  readonly #files: InboxFiles
  readonly #clock: Clock
  readonly #listeners = new Set<ReplyListener>()
  readonly #closeListeners = new Set<() => void>()
  /** Hashes of the requests that this process waits for, by id. */
  readonly #waiting = new Map<string, string>()
  #stop: (() => void) | undefined

  constructor(folder: string, clock: Clock = systemClock) {
    this.#folder = folder
    this.#files = new InboxFiles(folder)
    this.#clock = clock
  }

  get isOpen(): boolean {
    return this.#stop !== undefined
  }

  /** Makes the folder and begins to look for answers. */
  async open(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    await this.#files.assertPrivate()
    if (this.#stop) return
    const stopWatching = this.#watch()
    const stopPolling = this.#poll()
    this.#stop = () => {
      stopWatching()
      stopPolling()
    }
  }

  /** Lays a request into the inbox, unless it is taken out again meanwhile. */
  async put(request: ApprovalRequest): Promise<void> {
    if (!InboxFiles.isId(request.id))
      throw new ToolError('INPUT_SCHEMA_INVALID', 'The id of the approval cannot name a file.')
    this.#waiting.set(request.id, request.hash)
    await this.#files.removeReply(request.id)
    await this.#files.writeRequest({ asker: currentProcess(), request })
    if (!this.#waiting.has(request.id)) await this.#files.remove(request.id)
  }

  /** Takes a request out, with its answer if there is one. */
  async remove(id: string): Promise<void> {
    this.#waiting.delete(id)
    if (InboxFiles.isId(id)) await this.#files.remove(id)
  }

  /** Tells of answers to this process's requests; a reply is as hostile as any file. Returns how to stop. */
  onReply(listener: ReplyListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Tells that nobody will answer here any more. Returns how to stop. */
  onClose(listener: () => void): () => void {
    this.#closeListeners.add(listener)
    return () => this.#closeListeners.delete(listener)
  }

  /** Every request there is, oldest first; those of processes that are gone are told once and removed. */
  async list(): Promise<InboxEntry[]> {
    await this.#files.assertPrivate()
    const names = await this.#files.names()
    const entries = await Promise.all(names.map((name) => this.#entry(name)))
    return entries
      .filter((entry) => entry !== undefined)
      .sort((a, b) => (a.request.askedAt < b.request.askedAt ? -1 : a.request.askedAt > b.request.askedAt ? 1 : 0))
  }

  /** Answers a request of any process; the first answer wins. */
  async answer(id: string, reply: ApprovalReply): Promise<void> {
    const parsed = parseReply(reply)
    await this.#files.assertPrivate()
    const posted = InboxFiles.isId(id) ? await this.#files.readRequest(id) : undefined
    if (!posted) throw await this.#notFound(id)
    if (!isAlive(posted.asker)) {
      await this.#files.remove(id)
      throw tooLate(id, 'the process that asked is gone')
    }
    try {
      await this.#files.writeReply(id, posted.request.hash, parsed)
    } catch (cause) {
      if (errnoOf(cause) === 'EEXIST') throw answered(id, cause)
      throw cause
    }
    if ((await this.#files.hasRequest(id)) || !(await this.#files.hasReply(id))) return
    await this.#files.removeReply(id)
    throw tooLate(id, 'it was withdrawn meanwhile')
  }

  /** Stops looking and withdraws what this process asked. */
  async close(): Promise<void> {
    this.#stop?.()
    this.#stop = undefined
    const asked = [...this.#waiting.keys()]
    for (const listener of this.#closeListeners) listener()
    await Promise.all(asked.map((id) => this.remove(id)))
  }

  #watch(): () => void {
    let watcher: FSWatcher | undefined
    try {
      watcher = watch(this.#folder, { persistent: false }, (_, name) => {
        const id = name === null ? undefined : InboxFiles.idOf(name, 'reply')
        if (id !== undefined) void this.#fetch(id)
      })
      // Out of watches, folder gone: the poll below goes on looking.
      watcher.on('error', () => watcher?.close())
    } catch {
      // Not every file system can be watched; the poll can look at all of them.
    }
    return () => watcher?.close()
  }

  #poll(): () => void {
    let cancel = () => {}
    const again = () => {
      cancel = this.#clock.after(POLL_MS, look, { background: true })
    }
    const look = () => {
      for (const id of this.#waiting.keys()) void this.#fetch(id)
      again()
    }
    again()
    return () => cancel()
  }

  async #fetch(id: string): Promise<void> {
    const hash = this.#waiting.get(id)
    if (hash === undefined) return
    const found = await this.#files.readReply(id, hash)
    // Watch and poll may both have read it: the first to take it off the list tells.
    if (!found || !this.#waiting.delete(id)) return
    for (const listener of this.#listeners) listener(id, found.reply)
  }

  async #entry(name: string): Promise<InboxEntry | undefined> {
    const late = InboxFiles.idOf(name, 'reply')
    if (late !== undefined && !(await this.#files.hasRequest(late))) await this.#files.removeReply(late)
    const id = InboxFiles.idOf(name, 'request')
    const posted = id === undefined ? undefined : await this.#files.readRequest(id)
    if (id === undefined || !posted) return undefined
    const { request } = posted
    if (isAlive(posted.asker)) return { state: (await this.#files.hasReply(id)) ? 'answered' : 'waiting', request }
    await this.#files.remove(id)
    return { state: 'gone', request }
  }

  async #notFound(id: string): Promise<ToolError> {
    const ids = (await this.list()).map(({ request }) => request.id)
    const shown = JSON.stringify(id.slice(0, 100))
    return new ToolError('NOT_FOUND', `No approval ${shown} waits. ${didYouMean(id, ids)}`.trimEnd(), {
      hint: ids.length > 0 ? `Waiting: ${ids.slice(0, 10).join(', ')}.` : 'Nothing waits for an approval.',
    })
  }
}

function answered(id: string, cause: unknown): ToolError {
  return new ToolError('CONFLICT', `The approval ${id} was answered already.`, { hint: 'Nothing to do.', cause })
}

function tooLate(id: string, why: string): ToolError {
  return new ToolError('NOT_FOUND', `The approval ${id} does not wait any more: ${why}.`, {
    hint: 'List what waits now.',
  })
}
