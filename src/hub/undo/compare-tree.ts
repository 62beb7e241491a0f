import type { FoundEntry } from '../../sandbox/files/index.ts'

/** How much of a kept tree is at a path: all, a part and nothing that differs, or something else. */
export type Rest = 'whole' | 'part' | 'other'

type Look = (path: string) => Promise<FoundEntry>

/** One of two trees that are compared. */
interface Tree {
  readonly path: string
  readonly look: Look
}

/** Compares what is at a path with a tree that was kept, by content; stops at the first difference. */
export async function compareTree(now: Tree, kept: Tree): Promise<Rest> {
  const [present, was] = [await now.look(now.path), await kept.look(kept.path)]
  if (was.type === 'absent') return 'other'
  if (present.type === 'absent') return 'part'
  if (present.type === 'folder' && was.type === 'folder') return compareNames(now, kept, present.names, was.names)
  return isEqual(present, was) ? 'whole' : 'other'
}

async function compareNames(now: Tree, kept: Tree, present: readonly string[], was: readonly string[]): Promise<Rest> {
  if (!present.every((name) => was.includes(name))) return 'other'
  let rest: Rest = present.length === was.length ? 'whole' : 'part'
  for (const name of present) {
    const inner = await compareTree(below(now, name), below(kept, name))
    if (inner === 'other') return 'other'
    if (inner === 'part') rest = 'part'
  }
  return rest
}

function isEqual(a: FoundEntry, b: FoundEntry): boolean {
  if (a.type === 'file' && b.type === 'file') return a.sha256 === b.sha256
  return a.type === 'link' && b.type === 'link' && a.to === b.to
}

function below({ path, look }: Tree, name: string): Tree {
  return { path: `${path}/${name}`, look }
}
