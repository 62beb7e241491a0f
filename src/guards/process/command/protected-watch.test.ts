import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { ProtectedWatch } from './protected-watch.ts'

let root: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'protected-watch-'))
  onTestFinished(() => {
    chmodSync(root, 0o755)
    rmSync(root, { recursive: true })
  })
})

describe('what commands make at protected places', () => {
  it('is renamed when they end; what was there before stays', async () => {
    const [old, made] = [join(root, 'old.json'), join(root, 'made.json')]
    writeFileSync(old, 'old')
    const watch = new ProtectedWatch([old, made, join(old, 'below')])
    watch.enter()
    writeFileSync(made, 'made')
    expect(await watch.leave('x1')).toEqual([{ path: made, movedTo: `${made}.set-aside-x1` }])
    expect([existsSync(old), existsSync(made), readFileSync(`${made}.set-aside-x1`, 'utf8')]).toEqual([
      true,
      false,
      'made',
    ])
  })

  it('is found also where two run at once and the second began when it was there', async () => {
    const made = join(root, 'tool-hub.yaml')
    const watch = new ProtectedWatch([made])
    watch.enter()
    writeFileSync(made, 'a')
    watch.enter()
    await watch.leave('first')
    writeFileSync(made, 'b')
    await watch.leave('second')
    expect(existsSync(made)).toBe(false)
  })

  it('is the owner’s when no command ran', async () => {
    const made = join(root, '.vscode')
    const watch = new ProtectedWatch([made])
    watch.enter()
    await watch.leave('first')
    writeFileSync(made, 'mine')
    watch.enter()
    expect(await watch.leave('second')).toEqual([])
    expect(readFileSync(made, 'utf8')).toBe('mine')
  })

  it('is set aside where it takes the place of a link, which comes back', async () => {
    const place = join(root, '.claude')
    symlinkSync('shared', place)
    const watch = new ProtectedWatch([place])
    watch.enter()
    rmSync(place)
    symlinkSync('/evil', place)
    expect(await watch.leave('x')).toMatchObject([{ movedTo: `${place}.set-aside-x` }])
    expect(readlinkSync(place)).toBe('shared')
  })
})
