import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { countOpenFiles } from '../../../../test/support/left-behind.ts'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import type { WriteFiles } from '../../../core/src/handles.ts'
import { currentProcess } from '../system/processes.ts'
import { newDraftName } from './access/steady-changes.ts'
import { createFilesGuard } from './files-guard.ts'

let base: string
let root: string

beforeEach(() => {
  base = temporaryFolder('present')
  root = join(base, 'ws')
  mkdirSync(join(root, 'd'), { recursive: true })
  writeFileSync(join(root, 'd/f'), '')
  symlinkSync('d', join(root, 'l'))
  symlinkSync('d/f', join(root, 'to-file'))
})

function guardOf(options: object = {}) {
  const guard = createFilesGuard({ roots: [{ path: root, mode: 'write' }], maxReadBytes: 10, ...options })
  onTestFinished(() => guard.close())
  return guard
}

const never = new AbortController().signal
const RIGHTS = { signal: () => never, canRead: true, canWrite: true, canOverwrite: true }

describe('a first look at a path', () => {
  it.each(['d/f', './d/../d/f'])('finds the regular file %s', (path) => {
    expect(guardOf().present(path)).toBe(join(root, 'd/f'))
  })

  it.each(['d', 'none', 'none/f', 'd/f/x', 'l/f', 'to-file', '../ws/d/f', '/etc/passwd', '', '.'])(
    'finds nothing, and says nothing, at %j',
    (path) => {
      const before = countOpenFiles()
      const guard = createFilesGuard({ roots: [{ path: root, mode: 'write' }], maxReadBytes: 10 })
      expect(guard.present(path)).toBeUndefined()
      guard.close()
      expect(guard.present('d/f')).toBeUndefined()
      expect(countOpenFiles()).toBe(before)
    },
  )
})

describe('the path for policy', () => {
  it('is the real one to read, and refused to write over a link', () => {
    const guard = guardOf()
    expect([guard.resolve('l/f', 'read'), guard.resolve('to-file', 'read')]).toEqual([
      join(root, 'd/f'),
      join(root, 'd/f'),
    ])
    expect(guard.resolve('l/none', 'read')).toBe(join(root, 'd/none'))
    for (const path of ['l/f', 'to-file', 'l/none'])
      expect(() => guard.resolve(path, 'write')).toThrow(
        expect.objectContaining({
          code: 'PATH_DENIED',
          message: `"${path}" goes through a link; changes do not follow links.`,
        }),
      )
    expect([guard.resolve('d/f', 'write'), guard.resolve('d/none', 'write')]).toEqual([
      join(root, 'd/f'),
      join(root, 'd/none'),
    ])
  })
})

describe('drafts that a crash has left', () => {
  it('are noted in the folder for them, and removed below the roots and the further folders', async () => {
    const drafts = join(base, 'data/drafts')
    const [here, there] = [newDraftName(), newDraftName()]
    mkdirSync(join(base, 'runs/w'), { recursive: true })
    mkdirSync(drafts, { recursive: true })
    writeFileSync(join(root, here), '')
    writeFileSync(join(base, 'runs/w', there), '')
    const lines = [{ ...currentProcess(), started: '1' }, join(root, here), join(base, 'runs/w', there)]
    writeFileSync(join(drafts, '1.drafts.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    writeFileSync(join(drafts, 'notes.jsonl'), 'mine')
    const guard = guardOf({ draftsFolder: drafts, sweepBelow: [join(base, 'runs')] })
    await (guard.handle(RIGHTS) as WriteFiles).writeText('n', 'x')
    expect([readdirSync(root).sort(), readdirSync(join(base, 'runs/w'))]).toEqual([['d', 'l', 'n', 'to-file'], []])
    expect(readdirSync(drafts).sort()).toEqual([expect.stringMatching(/\.drafts\.jsonl$/), 'notes.jsonl'])
    guard.close()
    expect(readdirSync(drafts)).toEqual(['notes.jsonl'])
  })
})
