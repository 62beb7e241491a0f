import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { readWithoutWaiting } from '../../system/index.ts'
import { contentMark, settlesAt, statsAt } from '../disk/index.ts'
import { type GitRule, gitRuleOf, MAX_INDEX_BYTES } from '../git/index.ts'

/** A file with one or more refs. */
export interface RefFile {
  readonly path: string
  readonly gitFolder: string
}

/** Whether a file in a git folder has refs. */
export function holdsRefs(path: string): boolean {
  return REF_RULES.has(gitRuleOf(path))
}

/** The refs of a git folder: a hash, or `ref: NAME`, by name. */
export interface GitRefs {
  readonly loose: Map<string, string>
  packed: ReadonlyMap<string, string>
}

type Content = ReadonlyMap<string, string>

const REF_RULES: ReadonlySet<GitRule> = new Set(['ref', 'shadow', 'replace', 'packed-refs'])
const MAX_REF_BYTES = 1024 ** 2
const MAX_LINKS = 5
const STEP_BYTES = 1024 ** 2
const STEP_NAMES = 10_000
const STEP_FILES = 1_000
const NONE: Content = new Map()
/** Further files of git that name a commit to which it returns, or from which it takes files. */
const MORE_FILES = ['logs/refs/stash', 'rebase-merge/orig-head', 'rebase-apply/orig-head', 'sequencer/head']
/** Files with several commits, and where a line has one. */
const LISTS = new Map([
  ['logs/refs/stash', /^[0-9a-f]+ ([0-9a-f]{40,64}) /gim],
  ['FETCH_HEAD', /^([0-9a-f]{40,64})\t/gim],
])

/** Reads refs, and remembers those whose files have not changed. */
export class RefReader {
  readonly #known = new Map<string, { readonly state: string; readonly content: Content }>()

  /** By git folder. Files that changed after `sinceMs` are read again, even if their time is the same. */
  async read(files: readonly RefFile[], gitFolders: readonly string[], sinceMs = 0): Promise<Map<string, GitRefs>> {
    const all = new Map<string, GitRefs>(gitFolders.map((folder) => [folder, { loose: new Map(), packed: NONE }]))
    const more = gitFolders.flatMap((gitFolder) =>
      MORE_FILES.map((name) => ({ gitFolder, path: join(gitFolder, name) })),
    )
    const present = new Set<string>()
    for (const [index, { path, gitFolder }] of [...files, ...more].entries()) {
      if (index % STEP_FILES === STEP_FILES - 1) await setImmediate()
      const name = path.slice(gitFolder.length + 1)
      const refs = all.get(gitFolder)
      const content = refs && (await this.#read(path, name, sinceMs))
      if (!content) continue
      present.add(path)
      if (name === 'packed-refs') refs.packed = content
      else for (const [each, target] of content) refs.loose.set(each, target)
    }
    for (const path of this.#known.keys()) if (!present.has(path)) this.#known.delete(path)
    return all
  }

  async #read(path: string, name: string, sinceMs: number): Promise<Content | undefined> {
    const stats = statsAt(path)
    if (!stats?.isFile()) return undefined
    const state = contentMark(stats)
    const known = this.#known.get(path)
    // A command that has mapped a file into memory changes it without a new time.
    if (known?.state === state && settlesAt(stats) < (sinceMs || Date.now())) return known.content
    const isPacked = name === 'packed-refs'
    const bytes = readWithoutWaiting(path, isPacked ? MAX_INDEX_BYTES : MAX_REF_BYTES)
    const content = !bytes
      ? unreadable(name, state)
      : isPacked
        ? await packedRefs(bytes)
        : looseRefs(bytes.toString('latin1'), name)
    this.#known.set(path, { state, content })
    return content
  }
}

/** The value of a ref, which may be packed. */
export function refValue(refs: GitRefs | undefined, name: string): string | undefined {
  return refs?.loose.get(name) ?? refs?.packed.get(name)
}

/** The commit that a value leads to, which can be the name of another ref. */
export function resolveRef(value: string | undefined, places: readonly (GitRefs | undefined)[]): string | undefined {
  let at = value
  for (let links = 0; at?.startsWith('ref: ') && links < MAX_LINKS; links++) {
    const name = at.slice('ref: '.length)
    at = places.map((refs) => refValue(refs, name)).find((found) => found !== undefined)
  }
  return at?.startsWith('ref: ') ? undefined : at
}

/** The refs with another value than before. */
export async function changedRefs(before: GitRefs | undefined, now: GitRefs): Promise<Map<string, string>> {
  const changed = new Map<string, string>()
  const compare = (name: string) => {
    const value = refValue(now, name)
    if (value !== undefined && value !== refValue(before, name)) changed.set(name, value)
  }
  const names = [now.loose.keys(), before?.loose.keys() ?? [], now.packed === before?.packed ? [] : now.packed.keys()]
  let count = 0
  for (const each of names) {
    for (const name of each) {
      compare(name)
      if (++count % STEP_NAMES === 0) await setImmediate()
    }
  }
  return changed
}

/** No object has such a name, so it is reported as one that cannot be read. */
function unreadable(name: string, state: string): Content {
  return name === 'packed-refs' ? NONE : new Map([[`${name.replace('logs/', '')} ${state}`, 'unreadable']])
}

function looseRefs(text: string, name: string): Content {
  const list = LISTS.get(name)
  if (list)
    return new Map(Array.from(text.matchAll(list), ([, hash]) => [`${name.replace('logs/', '')} ${hash}`, hash!]))
  const [value] = /^(?:ref:\s*refs\/\S+|[0-9a-fA-F]{40,64}(?=\s|$))/.exec(text) ?? []
  return value === undefined ? NONE : new Map([[name, value.replace(/^ref:\s*/, 'ref: ')]])
}

async function packedRefs(bytes: Buffer): Promise<Content> {
  const refs = new Map<string, string>()
  for (let from = 0; from < bytes.length; ) {
    const lineEnd = bytes.indexOf(0x0a, Math.min(bytes.length, from + STEP_BYTES))
    const end = lineEnd < 0 ? bytes.length : lineEnd + 1
    for (const [, hash, name] of bytes.toString('latin1', from, end).matchAll(/^([0-9a-f]{40,64})\s([^\n]+)$/gim))
      refs.set(name!, hash!)
    from = end
    if (from < bytes.length) await setImmediate()
  }
  return refs
}
