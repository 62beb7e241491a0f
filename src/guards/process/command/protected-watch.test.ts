import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { ProtectedWatch } from './protected-watch.ts'

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'protected-watch-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

it('renames what has come to a protected place, links that lead nowhere too, and leaves what was there', async () => {
  const root = folder()
  const [old, made, link] = ['old.json', 'made.json', 'link'].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ]
  writeFileSync(old, 'old')
  const watch = new ProtectedWatch([old, made, link])
  writeFileSync(old, 'changed')
  writeFileSync(made, 'made')
  symlinkSync('/nowhere', link)
  expect(await watch.setAside('x1')).toEqual([
    { path: made, movedTo: `${made}.set-aside-x1` },
    { path: link, movedTo: `${link}.set-aside-x1` },
  ])
  expect([existsSync(old), existsSync(made), readFileSync(`${made}.set-aside-x1`, 'utf8')]).toEqual([
    true,
    false,
    'made',
  ])
})
