import { readdirSync, readlinkSync } from 'node:fs'

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
