import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { linkModules } from '../packages.mjs'

/** A copy of the tree that shares the installed packages and the build, in which a run writes nothing. */
export function copyTree(root) {
  const copy = realpathSync(mkdtempSync(join(tmpdir(), 'mu-')))
  mkdirSync(join(copy, 't'))
  // Tests start processes of other users.
  chmodSync(copy, 0o755)
  chmodSync(join(copy, 't'), 0o1777)
  for (const name of readdirSync(root)) {
    if (name === '.git' || name === 'node_modules') continue
    cpSync(join(root, name), join(copy, name), { recursive: true, filter: (path) => !path.endsWith('/node_modules') })
  }
  // Not the folder itself: a run puts modules of its own into it.
  linkModules(realpathSync(join(root, 'node_modules')), copy)
  return copy
}

/** The files below a folder of the copy, by their path in the copy. */
export function filesBelow(copy, folder) {
  return readdirSync(join(copy, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(copy.length + 1))
    .sort()
}
