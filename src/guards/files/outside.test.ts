import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import type { ReadFiles } from '../../contracts/handles.ts'
import type { FilesCall } from './files-door.ts'
import { createFilesGuard } from './files-guard.ts'

// `package.json`, `src` and `test` are in the current folder of the tests, and not in this root.
const root = temporaryFolder()
const guard = createFilesGuard({ roots: [{ path: root, mode: 'write' }], maxReadBytes: 1_000 })
afterAll(() => guard.close())

function readerOf(call: Partial<FilesCall>) {
  const notices: string[] = []
  const signal = () => new AbortController().signal
  const asked = { signal, canRead: true, canWrite: false, canOverwrite: false, ...call }
  const files = guard.handle({ ...asked, notice: (text) => notices.push(text) }) as ReadFiles
  return { files, notices }
}

const hintOf = (reading: Promise<unknown>) => reading.then(String, ({ message, fix }) => [message, fix.hint])

describe('what is not found', () => {
  it('is told with the root that was searched, and that the current folder has it', async () => {
    const { files, notices } = readerOf({ isOwner: true })
    const [message, hint] = await hintOf(files.readText('package.json'))
    expect(message).toBe(`"package.json" does not exist in ${root}.`)
    expect(hint).toContain(`${join(process.cwd(), 'package.json')} exists, but tools do not see it. `)
    expect(await hintOf(files.stat('no-such-file'))).toEqual([
      `"no-such-file" does not exist in ${root}.`,
      'Check the name.',
    ])
    await files.list('.')
    await files.find('.', { pattern: '*.ts' })
    await files.search('.', { pattern: 'import' })
    expect(notices).toEqual(Array(3).fill(expect.stringContaining(`Tools see only ${root}, not ${process.cwd()}.`)))
  })

  it('tells nothing of the current folder to a principal, and to nobody what is a secret or above', async () => {
    const { files, notices } = readerOf({})
    expect((await hintOf(files.readText('package.json')))[1]).toBe('Check the name.')
    await files.list('.')
    expect(notices).toEqual([])
    const owner = readerOf({ isOwner: true }).files
    expect((await hintOf(owner.readText('test/.env')))[1]).not.toContain('exists')
  })

  it('says to a principal that the empty folder is private, and who can give another one', async () => {
    const path = temporaryFolder()
    const alone = createFilesGuard({ roots: [{ path, mode: 'write', isPrivate: true }], maxReadBytes: 1_000 })
    const notices: string[] = []
    const signal = () => new AbortController().signal
    const call = { signal, canRead: true, canWrite: false, canOverwrite: false }
    const files = alone.handle({ ...call, notice: (text) => notices.push(text) }) as ReadFiles
    const help = expect.stringContaining('The owner of the hub can give tools another folder')
    expect(await hintOf(files.readText('package.json'))).toEqual([`"package.json" does not exist in ${path}.`, help])
    await files.list('.')
    expect(notices).toEqual([help])
    writeFileSync(join(path, 'a.txt'), '')
    expect((await hintOf(files.readText('package.json')))[1]).toBe('Check the name.')
    alone.close()
  })

  it('is not told of the current folder where a root holds it', async () => {
    const both = createFilesGuard({
      roots: [
        { path: root, mode: 'read' },
        { path: process.cwd(), mode: 'read' },
      ],
      maxReadBytes: 1_000,
    })
    const signal = () => new AbortController().signal
    const call = { signal, canRead: true, canWrite: false, canOverwrite: false, isOwner: true }
    const files = both.handle(call) as ReadFiles
    expect((await hintOf(files.readText('package.json')))[1]).toBe('Check the name.')
    both.close()
  })

  it('is a part of a path that is a file, which says so itself', async () => {
    writeFileSync(join(root, 'package.json'), '')
    const { files } = readerOf({ isOwner: true })
    expect((await hintOf(files.readText('package.json/x')))[0]).toContain('a part of it is a file')
    rmSync(join(root, 'package.json'))
  })

  it('says nothing of the current folder after a search in a root that has files', async () => {
    mkdirSync(join(root, 'src'))
    writeFileSync(join(root, 'a.txt'), 'x')
    const { files, notices } = readerOf({ isOwner: true })
    await files.list('src')
    expect(notices).toEqual([])
    expect(await files.readText('a.txt')).toBe('x')
  })
})
