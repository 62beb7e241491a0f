import { existsSync, readdirSync, realpathSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import type { HubOptions } from '@tool-hub/core'
import type { Hub } from '@tool-hub/runtime/hub'
import { say } from '../output/print.ts'

/** The current folder if tools may work in it, or why they may not. */
export type CurrentRoot = { readonly root: string } | { readonly why: string }

/** Whether the sticky bit and write access for everybody are set, as on /tmp. */
const SHARED = 0o1002

/**
 * The folder that tools work on when neither the config nor an option names one: the current folder. Never `/`, the home
 * folder, a folder above it, or a folder of another user: a person who stands there rarely means all of it.
 */
export function currentRoot(folder = '.', home = homedir()): CurrentRoot {
  const root = realpathSync(folder)
  if (root === '/') return { why: 'the current folder is /' }
  const own = realpathIfThere(home)
  if (own === root) return { why: 'the current folder is your home folder' }
  if (!relative(root, own).startsWith('..')) return { why: 'your home folder is below the current folder' }
  const { uid, mode } = statSync(root)
  const user = process.geteuid?.()
  if (user !== undefined && user !== uid) return { why: 'the current folder belongs to another user' }
  if ((mode & SHARED) === SHARED) return { why: 'every user can write to the current folder' }
  return { root }
}

/** The options with the current folder as root, unless the owner's sandbox says which folders there are. */
export function withCurrentRoot(options: HubOptions): HubOptions {
  if (namesFolders(options)) return options
  const current = currentRoot()
  return 'root' in current ? { ...options, sandbox: { ...options.sandbox, root: current.root } } : options
}

/**
 * The options with the current folder in addition to the workspace of each run: `undo` reverts changes in both. A config
 * that names folders keeps exactly those.
 */
export function withCurrentRootToo(options: HubOptions): HubOptions {
  if (namesFolders(options)) return options
  const current = currentRoot()
  if ('why' in current) return options
  return { ...options, sandbox: { ...options.sandbox, roots: [{ path: current.root, mode: 'write' }] } }
}

/** Why tools do not work in the current folder, and what changes that. Empty if the config or the options name a folder. */
export function whyPrivate(options: HubOptions): string {
  if (namesFolders(options)) return ''
  const current = currentRoot()
  return 'why' in current ? `, because ${current.why}; --root DIR gives tools a folder` : ''
}

/** Prints on stderr that the run has a private workspace, if the owner did not choose that. */
export function sayPrivate(options: HubOptions): void {
  const why = whyPrivate(options)
  if (why) say(`files: a private folder of the run${why}`)
}

function namesFolders({ sandbox = {} }: HubOptions): boolean {
  const { root, roots = [], workspaces } = sandbox
  return root !== undefined || workspaces !== undefined || roots.length > 0
}

function realpathIfThere(folder: string): string {
  try {
    return realpathSync(folder)
  } catch {
    // A home folder that does not exist cannot be the current one.
    return folder
  }
}

/** What the records keep next to the runs. */
const LAST_HEAD = 'last-head.json'

/**
 * Keeps the data folder and the records out of the user's git repository: each gets a `.gitignore` with `*`. A folder that
 * holds anything else than runs is left alone, and so is one outside of a repository.
 */
export function ignoreByGit({ data = '.tool-hub', runs = 'runs' }: Pick<HubOptions, 'data' | 'runs'>): void {
  const own = [
    ...(existsSync(join(data, 'created.json')) ? [data] : []),
    ...(runs !== false && holdsOnlyRuns(runs) ? [runs] : []),
  ]
  for (const folder of own) {
    if (!isInRepository(resolve(folder))) continue
    try {
      writeFileSync(join(folder, '.gitignore'), '*\n', { flag: 'wx' })
    } catch {
      // It is there already, or cannot be written: git then shows the folder, which harms nobody.
    }
  }
}

/** The same for a process that keeps running: now, and after the first call, which creates missing folders. */
export function ignoreFromNowOn(hub: Pick<Hub, 'onEvent'>, options: Pick<HubOptions, 'data' | 'runs'>): void {
  ignoreByGit(options)
  const stop = hub.onEvent(({ type }) => {
    if (type !== 'call-ended') return
    stop()
    ignoreByGit(options)
  })
}

function holdsOnlyRuns(folder: string): boolean {
  if (!existsSync(folder)) return false
  const names = readdirSync(folder).filter((name) => !name.startsWith(LAST_HEAD))
  return names.length > 0 && names.every((name) => existsSync(join(folder, name, 'events.jsonl')))
}

function isInRepository(folder: string): boolean {
  if (existsSync(join(folder, '.git'))) return true
  return dirname(folder) !== folder && isInRepository(dirname(folder))
}
