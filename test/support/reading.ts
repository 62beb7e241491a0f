import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import type { ReadFiles } from '../../packages/core/src/handles.ts'
import type { FilesCall } from '../../packages/sandbox/src/files/files-call.ts'
import { createFilesGuard } from '../../packages/sandbox/src/files/files-guard.ts'

const never = new AbortController().signal

/** A temporary root with a guard, and handles that read it as a call gets them. */
export function reading({ maxReadBytes = 3_000_000, untrusted = false } = {}) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'reading-')))
  const guard = createFilesGuard({ roots: [{ path: root, mode: 'read', untrusted }], maxReadBytes })
  return {
    root,
    /** The handle of one call. */
    reader(call: Partial<FilesCall> = {}): ReadFiles {
      const rights = { signal: () => never, canRead: true, canWrite: false, canOverwrite: false }
      return guard.handle({ ...rights, ...call }) as ReadFiles
    },
    /** Writes a file with the folders above it; gives its absolute path. */
    put(name: string, content: string | Uint8Array): string {
      const path = join(root, name)
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, content)
      return path
    },
    close() {
      guard.close()
      rmSync(root, { recursive: true, force: true })
    },
  }
}

/** How many descriptors this process has open. */
export function openDescriptors(): number {
  return readdirSync('/proc/self/fd').length
}

/** Bytes that this process has read so far, from whatever. */
export function bytesRead(): number {
  return Number(/rchar: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))?.[1])
}

/** Matches an error by its code. */
export function code(expected: string): unknown {
  return expect.objectContaining({ code: expected })
}
