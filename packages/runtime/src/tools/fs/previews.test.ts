import { describe, expect, it } from 'vitest'
import { fileHub } from '../../../../../test/support/file-hub.ts'
import type { ApprovalRequest } from '../../../../core/src/events.ts'
import { applyPatch } from './apply-patch.ts'
import { deletePath } from './delete-path.ts'
import { edit } from './edit.ts'
import { writeText } from './write-text.ts'

/** A hub that asks before any file changes, and keeps what was asked. */
function askingHub(files: Record<string, string | Uint8Array>) {
  const requests: ApprovalRequest[] = []
  const { call, read } = fileHub(files, {
    tools: [applyPatch, deletePath, edit, writeText],
    policy: [{ ask: 'write:fs' }, { ask: 'danger:destructive' }],
    approve: (request) => {
      requests.push(request)
      return { decision: 'allow' }
    },
  })
  const views = () => requests.at(-1)!.views
  return { call, read, views, targets: () => requests.at(-1)!.targets }
}

describe('the preview of a change to files', () => {
  it('shows an edit as it will be made', async () => {
    const { call, read, views } = askingHub({ 'a.txt': '\ufeffone\ntwo \nthree\n' })
    expect((await call('core/fs.edit', { path: 'a.txt', oldText: 'one\ntwo\n', newText: '1\n2\n' })).ok).toBe(true)
    expect(views()).toEqual([
      {
        kind: 'diff',
        path: 'a.txt',
        diff: '--- a.txt\n+++ a.txt\n@@ -1,3 +1,3 @@\n-one\n-two \n+1\n+2\n three',
        isNew: false,
      },
    ])
    expect(read('a.txt')).toBe('\ufeff1\n2\nthree\n')
  })

  it('shows a new file, and what another one replaces', async () => {
    const { call, views } = askingHub({ 'a.txt': 'old\n' })
    await call('core/fs.writeText', { path: 'b.txt', text: 'new\n' })
    expect(views()).toMatchObject([{ path: 'b.txt', isNew: true, diff: expect.stringContaining('+new') }])
    await call('core/fs.writeText', { path: 'a.txt', text: 'new\n', overwrite: true })
    expect(views()).toMatchObject([{ path: 'a.txt', isNew: false, diff: expect.stringContaining('-old\n+new') }])
  })

  it('does not count as having read the file', async () => {
    const { call, views, targets } = askingHub({ 'a.txt': 'old\n' })
    const input = { path: 'a.txt', text: 'old\n', overwrite: true }
    const stopped = await call('core/fs.writeText', { ...input, overwrite: false })
    expect(stopped.error?.code).toBe('CONFLICT')
    expect(views()).toEqual([])
    await call('core/fs.writeText', input)
    expect(targets()).toContainEqual(expect.stringMatching(/^danger:destructive .*a\.txt$/))
  })

  it('shows every file of a patch: added, updated, moved, deleted', async () => {
    const { call, views } = askingHub({
      'update.txt': 'a\nb\n',
      'move.txt': 'm\n',
      'delete.txt': 'gone\n',
      'delete.bin': Uint8Array.of(0, 255),
    })
    const input = [
      '*** Begin Patch',
      '*** Add File: add.txt',
      '+added',
      '*** Update File: update.txt',
      '-b',
      '+B',
      '*** Update File: move.txt',
      '*** Move to: moved.txt',
      '-m',
      '+M',
      '*** Delete File: delete.txt',
      '*** Delete File: delete.bin',
      '*** End Patch',
    ].join('\n')
    expect((await call('core/fs.applyPatch', { input })).ok).toBe(true)
    expect(views()).toMatchObject([
      { path: 'add.txt', isNew: true, diff: expect.stringContaining('+added') },
      { path: 'update.txt', isNew: false, diff: expect.stringContaining(' a\n-b\n+B') },
      { path: 'move.txt -> moved.txt', isNew: false, diff: expect.stringContaining('-m\n+M') },
      { path: 'delete.txt', isNew: false, diff: expect.stringContaining('+++ /dev/null\n@@ -1,1 +0,0 @@\n-gone') },
    ])
  })

  it('shows the text of a file that is deleted, and nothing of a folder', async () => {
    const { call, views } = askingHub({ 'a.txt': 'gone\n', 'folder/b.txt': 'b' })
    expect((await call('core/fs.deletePath', { path: 'a.txt', confirm: true })).ok).toBe(true)
    expect(views()).toMatchObject([{ path: 'a.txt', diff: expect.stringContaining('-gone') }])
    expect((await call('core/fs.deletePath', { path: 'folder', confirm: true, recursive: true })).ok).toBe(true)
    expect(views()).toEqual([])
  })

  it('is nothing where the call will fail, and the call says why', async () => {
    const { call, views } = askingHub({ 'a.txt': 'one\n', 'a.bin': Uint8Array.of(0, 255) })
    const edited = await call('core/fs.edit', { path: 'a.txt', oldText: 'nowhere', newText: 'x' })
    expect(edited.error?.code).toBe('NOT_FOUND')
    expect(views()).toEqual([])
    await call('core/fs.writeText', { path: 'a.bin', text: 'x', overwrite: true })
    expect(views()).toEqual([])
  })
})
