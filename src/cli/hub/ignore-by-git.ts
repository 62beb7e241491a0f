import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { HubOptions } from '../../core/index.ts'
import type { Hub } from '../../hub/index.ts'

/** What the records keep beside the runs. */
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

/** The same for a process that keeps running: now, and when the first call has made the folders that are missing. */
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
