import { LRUCache } from 'lru-cache'
import type { SeenFiles } from '../change.ts'

const MOST_FILES = 10_000

/** A bounded memory of what a run has read; a file that is forgotten only needs to be read again. */
export function createSeenFiles(): SeenFiles {
  const files = new LRUCache<string, string>({ max: MOST_FILES })
  return {
    get: (path) => files.get(path),
    set(path, sha256) {
      files.set(path, sha256)
    },
  }
}
