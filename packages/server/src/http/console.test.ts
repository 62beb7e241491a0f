import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Console, loadConsole } from './console.ts'

let folder = ''
let console: Console
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tool-hub-console-'))
  await mkdir(join(folder, 'built/assets'), { recursive: true })
  await writeFile(join(folder, 'secret.txt'), 'secret')
  await symlink(join(folder, 'secret.txt'), join(folder, 'built/link.txt'))
  for (const [name, content] of [
    ['index.html', '<p>console</p>'],
    ['assets/main-Bx81kd0q.js', 'let a = 1'],
    ['assets/main-Bx81kd0q.js.br', 'BR'],
    ['assets/main-Bx81kd0q.js.gz', 'GZ'],
    ['icon.svg', '<svg/>'],
  ] as const) {
    await writeFile(join(folder, 'built', name), content)
  }
  console = await loadConsole(join(folder, 'built'))
})
afterAll(() => rm(folder, { recursive: true }))

const get = (url: string, headers: Record<string, string> = {}, method = 'GET') =>
  console.answer({ method, url, headers } as unknown as IncomingMessage)

describe('the console', () => {
  it('is its first page at every path of its own', async () => {
    for (const path of ['/', '/index.html', '/runs/some-run?x=1', '/approvals', '/tools/core%2Ffs.readText?tab=try']) {
      const answer = get(path)
      expect(await answer?.text()).toBe('<p>console</p>')
      expect(answer?.headers.get('cache-control')).toBe('no-cache')
    }
  })

  it('lets nothing in from elsewhere', () => {
    const policy = get('/')?.headers.get('content-security-policy')
    expect(policy).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    )
    expect(get('/assets/main-Bx81kd0q.js')?.headers.get('x-content-type-options')).toBe('nosniff')
  })

  it.each([
    ['br, gzip', 'BR', 'br'],
    ['gzip', 'GZ', 'gzip'],
    ['br;q=0, gzip;q=0.5', 'GZ', 'gzip'],
    ['', 'let a = 1', null],
  ])('gives files in the smallest form that %j takes', async (accepted, text, encoding) => {
    const answer = get('/assets/main-Bx81kd0q.js', { 'accept-encoding': accepted })!
    expect([await answer.text(), answer.headers.get('content-encoding')]).toEqual([text, encoding])
    expect(answer.headers.get('cache-control')).toMatch(/immutable/)
    expect(answer.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
  })

  it('says when a browser has it already', () => {
    const etag = get('/icon.svg')!.headers.get('etag')!
    expect(get('/icon.svg', { 'if-none-match': etag })?.status).toBe(304)
  })

  it.each([
    '/../secret.txt',
    '/assets/../../secret.txt',
    '/%2e%2e/secret.txt',
    '/link.txt',
    '/assets/main-Bx81kd0q.js.br',
    '/assets/older-Qk81Bx0d.js',
    '/constructor.js',
    '/v1/x',
    '/mcp',
  ])('has nothing at %s', (path) => {
    expect(get(path)).toBeUndefined()
  })

  it('is not for anything but looking', () => {
    expect(get('/', {}, 'POST')).toBeUndefined()
  })

  it('says what to do where it was not built', async () => {
    for (const missing of [await loadConsole(undefined), await loadConsole(join(folder, 'nothing'))]) {
      const answer = missing.answer({ method: 'GET', url: '/', headers: {} } as IncomingMessage)
      expect(await answer?.text()).toContain('npm run build')
    }
  })
})
