import type { FindOptions, ReadFiles, SearchOptions, WriteFiles } from '../../contracts/handles.ts'
import { changeHandle } from './change/change-handle.ts'
import type { FilesCall, FilesDoor } from './files-door.ts'
import { FileReader } from './read/file-reader.ts'
import { restoreHandle } from './restore/restore-handle.ts'
import { searchHandle } from './search/search-handle.ts'

const READS = ['readText', 'readFile', 'readBytes', 'readLines', 'stat', 'sha256', 'list', 'search', 'find'] as const
const CHANGES = ['writeText', 'writeBytes', 'changeAll', 'makeFolder', 'move', 'copy', 'remove'] as const

/** The handle for one call: what it may do is there, nothing else. */
export function filesHandle(door: FilesDoor, call: FilesCall): Partial<ReadFiles & WriteFiles> {
  const reader = call.canRead ? new Reader(door, call) : undefined
  if (!call.canWrite) return reader ?? {}
  const changes = changeHandle(door, call)
  // Putting methods together takes a microsecond or two: nothing beside a change, too much for each small read.
  const restores = call.canRestore && restoreHandle(door, call)
  return { ...(reader && bind(reader, READS)), ...bind(changes, CHANGES), ...restores }
}

/** All that only reads; the search is made when it is first used. */
class Reader extends FileReader implements ReadFiles {
  readonly #door: FilesDoor
  readonly #call: FilesCall

  constructor(door: FilesDoor, call: FilesCall) {
    super(door, call)
    this.#door = door
    this.#call = call
  }

  search(path: string, options: SearchOptions) {
    return searchHandle(this.#door, this.#call).search(path, options)
  }

  find(path: string, options: FindOptions) {
    return searchHandle(this.#door, this.#call).find(path, options)
  }
}

// One for all calls: a tool must not be able to change what others get.
Object.freeze(Reader.prototype)

function bind<T extends object, K extends keyof T>(part: T, names: readonly K[]): Pick<T, K> {
  return Object.fromEntries(names.map((name) => [name, (part[name] as () => unknown).bind(part)])) as Pick<T, K>
}
