import { appendFileSync, closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { messageOf, ToolError } from '@tool-hub/core'
import { errnoOf, parseJson } from '@tool-hub/core/lib'
import { GroupCommit, prepareMissingDataFolder, syncFolder } from '@tool-hub/sandbox/system'

const NEWLINE = 0x0a

/** A file of JSON lines that several processes append to, and each of them follows. */
export class LabelJournal {
  readonly #file: string
  readonly #apply: (line: unknown) => void
  readonly #group = new GroupCommit(() => this.#sync())
  /** Bytes whose lines were applied. */
  #offset = 0
  #appended = 0
  #synced = 0

  constructor(file: string, apply: (line: unknown) => void) {
    this.#file = file
    this.#apply = apply
  }

  /** Applies the lines that any process has added since the last call. Costs one `stat` if there are none. */
  read(): void {
    const size = statSync(this.#file, { throwIfNoEntry: false })?.size ?? 0
    if (size === this.#offset) return
    // The file was removed: the labels that are known stay.
    if (size < this.#offset) this.#offset = 0
    const text = this.#readFrom(this.#offset)
    const end = text.lastIndexOf(NEWLINE) + 1
    this.#offset += end
    for (const line of text.subarray(0, end).toString('utf8').split('\n')) if (line !== '') this.#apply(parseJson(line))
  }

  append(line: unknown): void {
    prepareMissingDataFolder(dirname(this.#file))
    this.read()
    // A crash may have left a line without an end, which must not spoil this one.
    const isCut = (statSync(this.#file, { throwIfNoEntry: false })?.size ?? 0) > this.#offset
    appendFileSync(this.#file, `${isCut ? '\n' : ''}${JSON.stringify(line)}\n`, { mode: 0o600 })
    this.#appended++
    this.read()
  }

  /** Resolves when all appended lines survive a loss of power; `undefined` when they already do. */
  synced(): Promise<void> | undefined {
    return this.#synced === this.#appended ? undefined : this.#group.wait()
  }

  #readFrom(offset: number): Buffer {
    let descriptor: number
    try {
      descriptor = openSync(this.#file, 'r')
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') return Buffer.alloc(0)
      throw error
    }
    try {
      const bytes = Buffer.alloc(Math.max(0, fstatSync(descriptor).size - offset))
      return bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, offset))
    } finally {
      closeSync(descriptor)
    }
  }

  async #sync(): Promise<void> {
    const appended = this.#appended
    try {
      const file = await open(this.#file, 'r+')
      await file.sync().finally(() => file.close())
      if (this.#synced === 0) await syncFolder(dirname(this.#file))
    } catch (cause) {
      throw new ToolError(
        'RECORDS_UNAVAILABLE',
        `Which files are from outside cannot be written down in ${this.#file}: ${messageOf(cause)}`,
        { cause },
      )
    }
    this.#synced = appended
  }
}
