import { chownSync, closeSync, lstatSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { changing } from '../../../../../test/support/changing.ts'
import { fileAccess } from '../access/choose-access.ts'
import { takeFolderOwnerAt } from './file-owner.ts'

const isRoot = process.geteuid?.() === 0
const USER = 65_534
let ws: ReturnType<typeof changing>

beforeEach(() => {
  ws = changing()
})
afterEach(() => ws.close())

describe.runIf(isRoot)('what a hub that is root makes in a folder of another user', () => {
  beforeEach(() => {
    ws.put('ours/deep/file.txt', 'ours')
    mkdirSync(ws.at('theirs'))
    chownSync(ws.at('theirs'), USER, USER)
  })

  it('belongs to that user: files, folders and copies', async () => {
    const handle = ws.handle()
    await handle.writeText('theirs/a/b/new.txt', 'x')
    await handle.makeFolder('theirs/c/d', { mkdirp: true })
    await handle.copy('ours', 'theirs/copied')
    await handle.copy('ours/deep/file.txt', 'theirs/single.txt')
    const made = readdirSync(ws.at('theirs'), { recursive: true, encoding: 'utf8' })
    expect(made).toEqual(expect.arrayContaining(['a/b/new.txt', 'c/d', 'copied/deep/file.txt', 'single.txt']))
    for (const name of made) expect([name, ownerOf(join('theirs', name))]).toEqual([name, USER])
  })

  it('belongs to root where the folder does, and a file that is replaced stays whose it was', async () => {
    const handle = ws.handle()
    await handle.writeText('ours/new/file.txt', 'x')
    ws.put('theirs/roots.txt', 'old')
    await handle.writeText('theirs/roots.txt', 'new', { overwrite: true })
    const owners = ['ours/new', 'ours/new/file.txt', 'theirs/roots.txt'].map(ownerOf)
    expect(owners).toEqual([0, 0, 0])
  })

  it('is nothing that somebody put in the place of a new folder', () => {
    ws.put('theirs/full/secret', 'x')
    symlinkSync(ws.at('ours'), ws.at('theirs/link'))
    const folder = fileAccess.openBase(ws.at('theirs'))
    for (const name of ['full', 'link', 'gone']) takeFolderOwnerAt(folder, name)
    closeSync(folder)
    expect(['theirs/full', 'theirs/full/secret', 'theirs/link', 'ours'].map(ownerOf)).toEqual([0, 0, 0, 0])
  })
})

function ownerOf(path: string): number {
  return lstatSync(ws.at(path)).uid
}
