import { existsSync, readdirSync, readlinkSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Names below a folder that only half-done work has. */
export function draftsBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true })
    .map(String)
    .filter((name) => /(^|\/)\.tool-hub-[^/]*\.tmp(\/|$)/.test(name))
}

/** What this process holds open below a folder, the folder itself not counted. */
export function openBelow(folder: string): string[] {
  return readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${descriptor}`)
      return path.startsWith(`${folder}/`) ? [path] : []
    } catch {
      // The descriptor that read this list is closed again.
      return []
    }
  })
}

/**
 * How many files and folders of this test file the process holds open. Other descriptors do not count: on a busy machine,
 * pipes, sockets and folders of earlier files may still be closing.
 */
export function countOpenFiles(): number {
  const temporary = realpathSync(tmpdir())
  const ofTest = (path: string) => path.slice(temporary.length + 1).split('/')[0]!
  return openBelow(temporary).filter((path) => existsSync(join(temporary, ofTest(path)))).length
}
