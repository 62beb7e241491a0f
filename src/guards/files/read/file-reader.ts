import type { ListOptions, ReadFiles } from '../../../contracts/handles.ts'
import type { FilesCall, FilesDoor } from '../files-door.ts'
import { noticeOutside } from '../outside.ts'
import { hashFile } from './hash-file.ts'
import { listFolder } from './list-folder.ts'
import { readBytes, readFile } from './read-file.ts'
import { readLines } from './read-lines.ts'
import { statEntry } from './stat-entry.ts'

/** What the handle of a call can do with single files and folders. */
type Reading = Omit<ReadFiles, 'search' | 'find'>

/** The part of a call's handle that reads. One is made for each call, so it is no more than two fields. */
export class FileReader implements Reading {
  readonly #door: FilesDoor
  readonly #call: FilesCall

  constructor(door: FilesDoor, call: FilesCall) {
    this.#door = door
    this.#call = call
  }

  async readText(path: string, options?: { readonly maxBytes?: number }) {
    return (await this.readFile(path, options)).text
  }

  readFile(path: string, options?: { readonly maxBytes?: number }) {
    return this.#use(path, () => readFile(this.#door, this.#call, path, options?.maxBytes))
  }

  readBytes(path: string, options?: { readonly offset?: number; readonly maxBytes?: number }) {
    return this.#use(path, () => readBytes(this.#door, this.#call, path, options))
  }

  readLines(path: string, options?: { readonly offset?: number; readonly limit?: number; readonly maxBytes?: number }) {
    return this.#use(path, () => readLines(this.#door, this.#call, path, options))
  }

  stat(path: string) {
    return this.#use(path, () => statEntry(this.#door, this.#call, path))
  }

  sha256(path: string) {
    return this.#use(path, () => hashFile(this.#door, this.#call, path))
  }

  async list(path: string, options?: ListOptions) {
    const listing = await this.#use(path, () => listFolder(this.#door, this.#call, path, options))
    if (listing.entries.length === 0) noticeOutside(path, this.#door.roots, this.#call)
    return listing
  }

  #use<T>(path: string, work: () => Promise<T>): Promise<T> {
    return this.#door.use(path, this.#call, work)
  }
}

// One for all calls: a tool must not be able to change what others get.
Object.freeze(FileReader.prototype)
