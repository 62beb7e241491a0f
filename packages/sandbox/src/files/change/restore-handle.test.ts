import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { KeptChange } from '../../../../core/src/change.ts'
import { sha256 } from '../../../../core/src/lib/hash.ts'
import { createFilesGuard, type FilesGuard } from '../files-guard.ts'
import type { RestoreFiles } from './restore-handle.ts'
import { treeDigest } from './tree.ts'

let base: string
let root: string
let kept: string
let guard: FilesGuard
let told: KeptChange[]

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'restore-'))
  root = join(base, 'ws')
  kept = join(base, 'kept')
  mkdirSync(root)
  mkdirSync(join(kept, 'sub'), { recursive: true })
  writeFileSync(join(kept, 'sub/x'), 'x')
  symlinkSync('../outside', join(kept, 'link'))
  guard = createFilesGuard({ roots: [{ path: root, mode: 'write' }], maxReadBytes: 1000 })
  told = []
})
afterEach(() => {
  guard.close()
  rmSync(base, { recursive: true })
})

function handle(stop = new AbortController().signal): RestoreFiles {
  const journal = {
    keepFile: async () => undefined,
    placeForTree: async () => ({ refusal: 'none' }),
    intend: async (change: KeptChange) => void told.push(change),
  }
  const rights = { canRead: true, canWrite: true, canOverwrite: true, canRestore: true }
  return guard.handle({ signal: () => stop, ...rights, journal }) as unknown as RestoreFiles
}

describe('look', () => {
  it('tells files, folders and anything else apart, secrets too, and follows no link', async () => {
    writeFileSync(join(root, '.env'), 'KEY=1', { mode: 0o600 })
    mkdirSync(join(root, 'd/e'), { recursive: true })
    symlinkSync('.env', join(root, 'link'))
    execFileSync('mkfifo', [join(root, 'pipe')])
    const { look } = handle()
    expect(await look('.env')).toEqual({ type: 'file', sha256: sha256('KEY=1'), mode: 0o600 })
    expect(await look('d', { digest: true })).toEqual({
      type: 'folder',
      names: ['e'],
      digest: await treeDigest(join(root, 'd')),
    })
    expect(await look('link', { digest: true })).toEqual({
      type: 'link',
      to: '.env',
      digest: await treeDigest(join(root, 'link')),
    })
    for (const path of ['pipe', '.']) expect(await look(path)).toEqual({ type: 'other' })
    for (const path of ['none', 'none/deeper', '.env/x']) expect(await look(path)).toEqual({ type: 'absent' })
    await expect(look('../kept')).rejects.toMatchObject({ code: 'PATH_OUTSIDE_SANDBOX' })
    await expect(look('link/x')).rejects.toMatchObject({ code: 'PATH_DENIED' })
  })
})

describe('putTree', () => {
  it('moves a kept tree back with its folders above, on record first', async () => {
    const digest = await treeDigest(kept)
    await handle().putTree('p/d', { path: kept, digest })
    expect(told.map(({ op }) => op)).toEqual(['make-folder', 'create-tree'])
    expect(readFileSync(join(root, 'p/d/sub/x'), 'utf8')).toBe('x')
    expect(await treeDigest(join(root, 'p/d'))).toBe(digest)
    expect(readdirSync(base)).toEqual(['ws'])
  })

  it.skipIf(statSync('/dev/shm').dev === statSync(tmpdir()).dev)('copies it from another disk', async () => {
    const far = mkdtempSync('/dev/shm/restore-')
    try {
      execFileSync('cp', ['-a', kept, join(far, 'tree')])
      await handle().putTree('d', { path: join(far, 'tree'), digest: await treeDigest(join(far, 'tree')) })
      expect(readFileSync(join(root, 'd/sub/x'), 'utf8')).toBe('x')
      expect(readdirSync(root)).toEqual(['d'])
    } finally {
      rmSync(far, { recursive: true })
    }
  })

  it('copies a part of a kept tree, which stays whole: a file, a link, a folder', async () => {
    for (const name of ['sub/x', 'link', 'sub']) {
      const path = join(kept, name)
      await handle().putTree(`n/${name}`, { path, digest: await treeDigest(path), isPartOfTree: true })
      expect(await treeDigest(join(root, 'n', name))).toBe((told.at(-1) as { digest?: string }).digest)
      rmSync(join(root, 'n'), { recursive: true })
    }
    expect(told.map(({ op, path }) => `${op} ${path.slice(root.length)}`)).toEqual([
      'make-folder /n',
      'make-folder /n/sub',
      'create-tree /n/sub/x',
      'make-folder /n',
      'create-tree /n/link',
      'make-folder /n',
      'create-tree /n/sub',
    ])
    expect(readFileSync(join(kept, 'sub/x'), 'utf8')).toBe('x')
    expect(readdirSync(root)).toEqual([])
  })

  it('refuses a tree that was changed or is gone, a name in use, and a call that was stopped', async () => {
    const tree = { path: kept, digest: await treeDigest(kept) }
    await expect(handle().putTree('d', { ...tree, digest: 'other' })).rejects.toMatchObject({ code: 'CONFLICT' })
    await expect(handle().putTree('d', { ...tree, path: `${kept}-gone` })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(handle(AbortSignal.abort()).putTree('d', tree)).rejects.toMatchObject({ code: 'ABORTED' })
    mkdirSync(join(root, 'd'))
    await expect(handle().putTree('d', tree)).rejects.toMatchObject({ code: 'CONFLICT' })
    await expect(handle().putTree('.git/hooks', tree)).rejects.toMatchObject({ code: 'PATH_DENIED' })
    expect(told).toEqual([])
    expect(readdirSync(kept)).toEqual(['link', 'sub'])
  })
})

it.each([
  ['other', '', 'CONFLICT', 'The folder that was kept was changed since.'],
  [undefined, '-gone', 'NOT_FOUND', 'The previous folder has been deleted.'],
])('says why a tree is not put back', async (digest, ending, code, message) => {
  const tree = { path: `${kept}${ending}`, digest: digest ?? (await treeDigest(kept)) }
  await expect(handle().putTree('p/d', tree)).rejects.toMatchObject({ code, message: expect.stringContaining(message) })
  expect(readdirSync(root)).toEqual([])
})

describe('putFolder', () => {
  it('makes a folder with exactly these permissions, whatever the umask', async () => {
    await handle().putFolder('d', 0o777)
    expect(statSync(join(root, 'd')).mode & 0o777).toBe(0o777)
    expect(told).toEqual([{ op: 'make-folder', path: join(root, 'd') }])
    await expect(handle().putFolder('d', 0o700)).rejects.toMatchObject({ code: 'CONFLICT' })
  })
})

it('is not part of the handle of a tool', () => {
  const signal = new AbortController().signal
  const tools = guard.handle({ signal: () => signal, canRead: true, canWrite: true, canOverwrite: true })
  expect(Object.keys(tools)).not.toContain('look')
  expect(Object.keys(tools)).not.toContain('putTree')
})
