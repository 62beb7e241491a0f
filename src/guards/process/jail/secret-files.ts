import { type Dirent, statSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** How far to look. */
export interface SecretSearch {
  readonly maxEntries?: number
  /** Each one hidden costs every command some time. */
  readonly maxFound?: number
  readonly signal?: AbortSignal
}

/** What was found; not complete when a limit ended the search before its end. */
export interface SecretFiles {
  readonly files: readonly string[]
  readonly isComplete: boolean
  /** Whether an entry came or went since, in any folder that was looked into. */
  hasChanged(): boolean
}

const SECRET_FILE =
  /^\.env(rc)?$|^\.env\..+|\.(pem|key|p12|pfx|jks|keystore|kdbx)$|^id_(rsa|dsa|ecdsa|ed25519)(_sk)?$|^\.(netrc|pgpass|git-credentials|pypirc|htpasswd)$/i
/** Made to be seen. */
const SAMPLE = /\.(example|sample|template|dist|schema|defaults?)$|^\.env\.(example|sample|template)\b/i
const SECRET_FOLDER = /^\.(ssh|gnupg|aws)$/i
const COARSE_MS = 50
/** Those nearest to a root; more would hold up everything else. Deeper ones are looked at again with the next search. */
const MOST_COMPARED = 2_000
/** Large, and not where people put their secrets. */
const SKIPPED = new Set(['.git', 'node_modules'])

/** Files and folders below the roots that look like secrets, nearest to a root first; links are not followed. */
export async function findSecretFiles(
  roots: readonly string[],
  { maxEntries = 20_000, maxFound = 100, signal }: SecretSearch = {},
): Promise<SecretFiles> {
  const files: string[] = []
  const folders = [...new Set(roots)]
  const times = new Map<string, number>()
  const hasChanged = () => [...times].slice(0, MOST_COMPARED).some(([folder, time]) => changeTime(folder) !== time)
  let seen = 0
  for (const folder of folders) {
    signal?.throwIfAborted()
    times.set(folder, settledTime(folder))
    for (const entry of await list(folder)) {
      if (++seen > maxEntries || files.length >= maxFound) return { files, isComplete: false, hasChanged }
      const path = join(folder, entry.name)
      if (isSecret(entry)) files.push(path)
      // The list grows while it is walked: level by level.
      else if (entry.isDirectory() && !SKIPPED.has(entry.name)) folders.push(path)
    }
  }
  return { files, isComplete: true, hasChanged }
}

/** Synchronous: a command waits for it, and a thousand folders take 2 ms so, ten times as much otherwise. */
function changeTime(folder: string): number {
  return statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0
}

/** Clocks of file systems are coarse: a folder that changed just now may change again without that its time shows it. */
function settledTime(folder: string): number {
  const time = changeTime(folder)
  return Date.now() - time > COARSE_MS ? time : Number.NaN
}

async function list(folder: string): Promise<Dirent[]> {
  // What this user cannot list, its commands cannot either; what has gone meanwhile holds nothing.
  return readdir(folder, { withFileTypes: true }).catch(() => [])
}

function isSecret(entry: Dirent): boolean {
  if (entry.isDirectory()) return SECRET_FOLDER.test(entry.name)
  return entry.isFile() && SECRET_FILE.test(entry.name) && !SAMPLE.test(entry.name)
}
