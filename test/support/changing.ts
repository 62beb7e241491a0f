import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import type { FileState, Journal, KeptChange, SeenFiles } from '../../packages/core/src/change.ts'
import type { WriteFiles } from '../../packages/core/src/handles.ts'
import { sha256 } from '../../packages/core/src/lib/hash.ts'
import { changeHandle } from '../../packages/sandbox/src/files/change/change-handle.ts'
import { openChanges } from '../../packages/sandbox/src/files/change/change-scope.ts'
import type { FilesCall } from '../../packages/sandbox/src/files/files-call.ts'
import { createFilesRoot } from '../../packages/sandbox/src/files/files-root.ts'
import { openRoots, type RootOptions } from '../../packages/sandbox/src/files/roots.ts'

/** A journal that really keeps: contents in memory by hash, trees in a folder, every change in order. */
export class MemoryJournal implements Journal {
  readonly kept = new Map<string, Buffer>()
  readonly changes: KeptChange[] = []
  readonly folder: string
  /** What it says instead of keeping. */
  refusal: string | undefined
  /** How many trees it had made room for that did not come. */
  released = 0

  constructor(folder: string) {
    this.folder = folder
  }

  async keepFile(source: string, state: FileState) {
    if (this.refusal !== undefined) return this.refusal
    const content = readFileSync(source)
    if (sha256(content) !== state.sha256) return 'it was changed while it was kept'
    this.kept.set(state.sha256, content)
    return undefined
  }

  async placeForTree() {
    if (this.refusal !== undefined) return { refusal: this.refusal }
    const name = `tree-${readdirSync(this.folder).length}`
    const release = () => {
      this.released += 1
    }
    return { path: join(this.folder, name), name, release }
  }

  async intend(change: KeptChange) {
    this.changes.push(change)
  }

  /** Operations and names, for short expectations. */
  ops(root: string): string[] {
    return this.changes.map((change) => `${change.op} ${change.path.slice(root.length + 1)}`)
  }
}

/** A workspace `ws` and a folder `out` beside it that nothing may touch, with changes as a call gets them. */
export function changing({ roots = [], draftsFolder }: { roots?: RootOptions[]; draftsFolder?: string } = {}) {
  const base = mkdtempSync(join(tmpdir(), 'changing-'))
  const root = join(base, 'ws')
  for (const name of ['ws', 'out', 'undo']) mkdirSync(join(base, name))
  writeFileSync(join(base, 'out/secret.txt'), 'SECRET')
  const opened = openRoots([{ path: root, mode: 'write' }, ...roots])
  const filesRoot = createFilesRoot(opened, 1_000_000, [])
  const shared = openChanges(filesRoot, draftsFolder)
  const journal = new MemoryJournal(join(base, 'undo'))
  const seen: SeenFiles & Map<string, string> = new Map<string, string>()
  const notices: string[] = []
  const never = new AbortController().signal
  const at = (path: string) => join(root, path)
  return {
    base,
    root,
    filesRoot,
    journal,
    seen,
    notices,
    at,
    /** The handle of one call, by default one that may do everything; another guard shares no queue. */
    handle(call: Partial<FilesCall> = {}, through = shared): WriteFiles {
      const notice = (text: string) => notices.push(text)
      const all = { signal: () => never, canRead: true, canWrite: true, canOverwrite: true, journal, seen, notice }
      return changeHandle(through, { ...all, ...call })
    },
    /** Another guard of the same workspace. */
    another: () => openChanges(createFilesRoot(openRoots([{ path: root, mode: 'write' }]), 1_000_000, [])),
    put: (path: string, content: string | Buffer = path) => {
      mkdirSync(join(at(path), '..'), { recursive: true })
      writeFileSync(at(path), content)
    },
    text: (path: string) => readFileSync(at(path), 'utf8'),
    /** All names below the workspace, sorted; nothing behind links. */
    names: (path = '') =>
      readdirSync(at(path), { recursive: true, withFileTypes: true })
        .map((entry) => relative(at(path), join(entry.parentPath, entry.name)))
        .sort(),
    /** What is outside, which must always be the same. */
    outside: () => readdirSync(join(base, 'out')).map((name) => `${name}: ${readFileSync(join(base, 'out', name))}`),
    outsideText: () => readFileSync(join(base, 'out/secret.txt'), 'utf8'),
    close() {
      opened.close()
      shared.ledger.close()
      rmSync(base, { recursive: true, force: true })
    },
  }
}

/** The outcome of a change: `ok`, or the code of its error. */
export function outcome(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'ok',
    (error) => String(error.code ?? error),
  )
}
