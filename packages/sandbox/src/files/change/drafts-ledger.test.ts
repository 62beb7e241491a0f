import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { changing, outcome } from '../../../../../test/support/changing.ts'

let base: string

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'ledger-'))
})
afterEach(() => rmSync(base, { recursive: true }))

it('names the data folder, not the target, when it cannot be kept', async () => {
  writeFileSync(join(base, 'file'), '')
  const ws = changing({ draftsFolder: join(base, 'file/drafts') })
  ws.put('a.txt')
  const handle = ws.handle()
  for (const change of [
    () => handle.writeText('n.txt', 'n'),
    () => handle.remove('a.txt'),
    () => handle.move('a.txt', 'b.txt'),
  ]) {
    const error = await change().catch((reason) => reason)
    expect(error).toMatchObject({ code: 'CONFIG_INVALID', fix: { key: 'data' } })
    expect(error.message).toMatch(/data folder \(ENOTDIR\)/)
    expect(error.message).not.toMatch(/\.txt/)
  }
  expect(ws.names()).toEqual(['a.txt'])
  ws.close()
})

it.skipIf(process.getuid?.() !== 0)('is empty after changes that fail at their first step', async () => {
  const drafts = join(base, 'drafts')
  const ws = changing({ draftsFolder: drafts })
  mkdirSync(ws.at('ro'))
  execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', ws.at('ro')])
  try {
    ws.put('ro/f')
    ws.put('ro/tree/f')
    execFileSync('mount', ['-o', 'remount,ro', ws.at('ro')])
    const handle = ws.handle()
    expect(await outcome(handle.move('ro/f', 'x'))).toBe('PATH_DENIED')
    expect(await outcome(handle.remove('ro/f'))).toBe('PATH_DENIED')
    expect(await outcome(handle.remove('ro/tree', { recursive: true }))).toBe('PATH_DENIED')
    expect(await outcome(handle.copy('ro/tree', 'ro/n'))).toBe('PATH_DENIED')
    expect(readdirSync(drafts)).toHaveLength(1)
  } finally {
    execFileSync('umount', ['--lazy', ws.at('ro')])
    ws.close()
  }
  // The list goes with the guard when nothing is left on it.
  expect(existsSync(drafts) && readdirSync(drafts)).toEqual([])
})
