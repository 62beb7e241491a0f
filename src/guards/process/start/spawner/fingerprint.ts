import { statSync } from 'node:fs'

/** Below these nothing of a workspace lies, and looking costs time. */
const OF_THE_SYSTEM = /^\/(usr|etc|proc|dev|sys|bin|sbin|lib|lib64|run)(\/|$)/

/**
 * Which files and folders the paths among a jail's arguments are at this moment. A jail made ahead shows the old
 * folder for ever, also when another one has taken its place.
 */
export function fingerprint(args: readonly string[]): string {
  return args
    .filter((arg) => arg.startsWith('/') && !OF_THE_SYSTEM.test(arg))
    .map(identityOf)
    .join()
}

let unknown = 0

function identityOf(path: string): string {
  try {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false })
    return found === undefined ? '-' : `${found.dev}:${found.ino}`
  } catch {
    // A command has closed a folder on the way, or made a loop of links: whatever is there equals nothing else.
    unknown += 1
    return `unknown ${unknown}`
  }
}
