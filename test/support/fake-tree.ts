import { dirname } from 'node:path'
import { ToolError } from '@tool-hub/core/errors'
import type { FileState, KeptChange } from '../../packages/core/src/change.ts'
import { sha256 } from '../../packages/core/src/lib/hash.ts'
import type { Step } from '../../packages/runtime/src/hub/undo/judge-change.ts'
import { compareTree, type Restorer } from '../../packages/runtime/src/hub/undo/restorer.ts'
import type { TakenChange } from '../../packages/runtime/src/hub/undo/undo-changes.ts'
import type { FoundEntry } from '../../packages/sandbox/src/files/change/restore-handle.ts'

/** A file with its text, a folder with none; the number is its inode. */
interface Entry {
  readonly text: string | null
  readonly inode: number
}

type Operation =
  | { readonly op: 'write'; readonly path: string; readonly text: string }
  | { readonly op: 'remove' | 'make'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly path: string; readonly to: string }

/** A file system in memory that journals as the guard does; operations that cannot be are left out. */
export class FakeTree {
  readonly changes: TakenChange[] = []
  #entries = new Map<string, Entry>()
  readonly #files = new Map<string, string>()
  readonly #trees = new Map<string, Map<string, Entry>>()
  #inode = 0

  constructor(content: Readonly<Record<string, string | null>>) {
    for (const [path, text] of Object.entries(content)) this.set(path, text)
  }

  /** What is there, for comparing. */
  get content(): Record<string, string | null> {
    return Object.fromEntries([...this.#entries].sort().map(([path, { text }]) => [path, text]))
  }

  /** Puts something there without a journal, as another program does. */
  set(path: string, text: string | null): void {
    this.#entries.set(path, { text, inode: this.#inode++ })
  }

  apply(operation: Operation): void {
    const { path } = operation
    const present = this.#entries.get(path)
    if (operation.op === 'write') this.#write(path, operation.text, present)
    else if ('to' in operation) this.#transfer(operation.op, path, operation.to, present)
    else if (operation.op === 'make') this.#make(path, present)
    else this.#remove(path, present)
  }

  readonly restorer: Restorer = {
    look: async (path) => look(this.#entries, path),
    compare: ({ path, tree }) => {
      const kept = { path: `/kept/${tree}`, look: async (inside: string) => this.lookKept(inside) }
      return compareTree({ path, look: async (inside) => look(this.#entries, inside) }, kept)
    },
    apply: async (step) => this.#restore(step),
  }

  /** `/kept/<tree>/…`. */
  lookKept(path: string): FoundEntry {
    const [, , tree, ...rest] = path.split('/')
    return look(this.#trees.get(tree!) ?? new Map(), ['', ...rest].join('/'))
  }

  #write(path: string, text: string, present: Entry | undefined): void {
    const after = stateOf(text)
    if (present?.text === null || !this.#isFolder(dirname(path))) return
    if (present) {
      this.#files.set(sha256(present.text), present.text)
      this.#tell({ op: 'replace', path, before: stateOf(present.text), after })
    } else this.#tell({ op: 'create', path, after })
    this.set(path, text)
  }

  #make(path: string, present: Entry | undefined): void {
    if (present || !this.#isFolder(dirname(path))) return
    this.#tell({ op: 'make-folder', path })
    this.set(path, null)
  }

  #remove(path: string, present: Entry | undefined): void {
    if (!present) return
    if (present.text !== null) {
      this.#files.set(sha256(present.text), present.text)
      this.#tell({ op: 'remove', path, before: stateOf(present.text) })
      this.#entries.delete(path)
      return
    }
    const below = this.#take(path)
    if (below.size === 1) {
      this.#tell({ op: 'remove-folder', path, mode: 0o755 })
      return
    }
    const tree = `tree-${this.#inode++}`
    this.#trees.set(tree, below)
    this.#tell({ op: 'remove-tree', path, digest: digestOf(below), bytes: 0, tree })
  }

  #transfer(op: 'move' | 'copy', path: string, to: string, present: Entry | undefined): void {
    if (!present || this.#entries.has(to) || to.startsWith(`${path}/`) || !this.#isFolder(dirname(to))) return
    if (op === 'move') {
      const taken = this.#take(path)
      this.#tell({ op: 'move', path, to, digest: digestOf(taken) })
      this.#put(to, taken)
    } else if (present.text !== null) this.#write(to, present.text, undefined)
    else this.#copyFolder(path, to)
  }

  #copyFolder(path: string, to: string): void {
    const copy = new Map([...below(this.#entries, path)].map(([name, { text }]) => [name, this.#fresh(text)]))
    this.#tell({ op: 'create-tree', path: to, digest: digestOf(copy) })
    this.#put(to, copy)
  }

  #restore(step: Step): void {
    const { path } = step
    const isThere = this.#entries.has(path)
    if (step.do.startsWith('put-') ? !this.#isFolder(dirname(path)) : !isThere) {
      throw new ToolError('NOT_FOUND', `${path} is not there.`)
    }
    if (isThere && (step.do === 'put-folder' || step.do === 'put-tree')) {
      throw new ToolError('CONFLICT', `${path} is there.`)
    }
    if (step.do === 'put-file') this.set(path, this.#files.get(step.state.sha256)!)
    else if (step.do === 'put-folder') this.set(path, null)
    else if (step.do === 'put-tree' || step.do === 'fill-tree') this.#put(path, this.#trees.get(step.tree)!)
    else if (step.do === 'move') this.#put(step.to, this.#take(path))
    else this.#take(path)
  }

  #tell(change: KeptChange): void {
    this.changes.push({ run: 'r', seq: this.changes.length, callId: 'c1', change })
  }

  #fresh(text: string | null): Entry {
    return { text, inode: this.#inode++ }
  }

  #isFolder(path: string): boolean {
    return path === '/' || this.#entries.get(path)?.text === null
  }

  #take(path: string): Map<string, Entry> {
    const taken = below(this.#entries, path)
    for (const name of taken.keys()) this.#entries.delete(path + name)
    return taken
  }

  #put(path: string, entries: ReadonlyMap<string, Entry>): void {
    for (const [name, entry] of entries) this.#entries.set(path + name, entry)
  }
}

/** What is at a path and below, by the rest of its path. */
function below(entries: ReadonlyMap<string, Entry>, path: string): Map<string, Entry> {
  const found = [...entries].filter(([name]) => name === path || name.startsWith(`${path}/`))
  return new Map(found.map(([name, entry]) => [name.slice(path.length), entry]))
}

function look(entries: ReadonlyMap<string, Entry>, path: string): FoundEntry {
  const inside = below(entries, path)
  const top = inside.get('')
  if (!top) return { type: 'absent' }
  const digest = digestOf(inside)
  if (top.text !== null) return { type: 'file', sha256: sha256(top.text), mode: 0o644, digest }
  const names = [...inside.keys()].filter((name) => name.lastIndexOf('/') === 0).map((name) => name.slice(1))
  return { type: 'folder', names, digest }
}

function digestOf(entries: ReadonlyMap<string, Entry>): string {
  return sha256(JSON.stringify([...entries].map(([name, { inode }]) => [name, inode]).sort()))
}

function stateOf(text: string): FileState {
  return { sha256: sha256(text), bytes: text.length, mode: 0o644 }
}
