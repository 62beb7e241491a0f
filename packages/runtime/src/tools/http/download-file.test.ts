import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { useHttpHub } from '../../../../../test/support/http-hub.ts'

const http = useHttpHub()
const DOWNLOAD = 'core/http.downloadFile'

describe('core/http.downloadFile', () => {
  it('streams to a file, with its hash and where it came from', async () => {
    const content = randomBytes(3_000_000)
    http.local.answer = (_, response) => response.end(content)
    const { hub, read } = http.fileHub()
    const input = { url: http.url('/data.bin?sig=hush'), destPath: 'in/data.bin' }
    const result = await hub.callDynamic(DOWNLOAD, input)
    const sha256 = createHash('sha256').update(content).digest('hex')
    expect(result).toMatchObject({
      ok: true,
      data: { destPath: 'in/data.bin', bytes: 3_000_000, sha256 },
      evidence: [
        {
          type: 'file',
          ref: 'in/data.bin',
          summary: `3000000 bytes, sha256 ${sha256}, from ${http.url('/data.bin')}?…`,
        },
      ],
      meta: { labels: ['untrusted'] },
    })
    expect(read('in/data.bin').equals(content)).toBe(true)
  })

  it('leaves nothing behind when it fails, whatever the reason', async () => {
    const { hub, root } = http.fileHub()
    const failures: [string, typeof http.local.answer, object?][] = [
      ['UPSTREAM_ERROR', (_, response) => response.writeHead(404).end('not here')],
      [
        'UPSTREAM_ERROR',
        (_, response) => response.writeHead(200, { 'content-length': '9' }).end('short') && response.destroy(),
      ],
      ['UPSTREAM_ERROR', (_, response) => void response.write('half', () => response.destroy())],
      ['HTTP_TOO_LARGE', (_, response) => response.end('x'.repeat(2000)), { maxBytes: 1024 }],
      ['HTTP_TOO_LARGE', (_, response) => response.write('x'.repeat(2000)) && response.end(), { maxBytes: 1024 }],
      ['HTTP_TIMEOUT', (_, response) => void response.write('drip'), { timeoutMs: 1000 }],
    ]
    for (const [code, answer, more] of failures) {
      http.local.answer = answer
      const result = await hub.callDynamic(DOWNLOAD, { url: http.url(), destPath: 'x.bin', ...more })
      expect(result.error?.code).toBe(code)
      expect(readdirSync(root)).toEqual([])
    }
  })

  it('names the key that the owner can raise, and no other tool', async () => {
    http.local.answer = (_, response) => response.end('x'.repeat(2000))
    const { hub } = http.fileHub({ limits: { downloadBytes: 1500 } })
    const refused = await hub.callDynamic(DOWNLOAD, { url: http.url(), destPath: 'x.bin' })
    expect(refused.error).toMatchObject({
      code: 'HTTP_TOO_LARGE',
      fix: { hint: 'Have the owner raise limits.download.' },
    })
    const asked = await hub.callDynamic(DOWNLOAD, { url: http.url(), destPath: 'x.bin', maxBytes: 1024 })
    expect(asked.error!.fix.hint).toBe('Raise maxBytes (at most 1500 here).')
  })

  it('leaves nothing behind when it is stopped in the middle', async () => {
    const stopping = new AbortController()
    http.local.answer = (_, response) => void response.write('half', () => setImmediate(() => stopping.abort()))
    const { hub, root } = http.fileHub()
    const input = { url: http.url(), destPath: 'x.bin' }
    const result = await hub.callDynamic(DOWNLOAD, input, { signal: stopping.signal })
    expect(result.status).toBe('aborted')
    expect(readdirSync(root)).toEqual([])
  })

  it('says the status of a server that has it not, and whether to ask again', async () => {
    const { hub } = http.fileHub()
    http.local.answer = (_, response) => response.writeHead(403).end()
    const result = await hub.callDynamic(DOWNLOAD, { url: http.url('/x'), destPath: 'x' })
    expect(result.error).toMatchObject({ retryable: false, message: expect.stringContaining('answered 403') })
  })

  it('replaces a file only if requested and allowed', async () => {
    http.local.answer = (_, response) => response.end('new')
    const input = { url: http.url(), destPath: 'x.txt' }
    const closed = http.fileHub()
    writeFileSync(join(closed.root, 'x.txt'), 'old')
    expect((await closed.hub.callDynamic(DOWNLOAD, input)).error?.code).toBe('CONFLICT')
    expect((await closed.hub.callDynamic(DOWNLOAD, { ...input, overwrite: true })).status).toBe('denied')
    expect(closed.read('x.txt').toString()).toBe('old')
    const open = http.fileHub({ policy: [{ allow: 'danger:destructive' }] })
    writeFileSync(join(open.root, 'x.txt'), 'old')
    expect((await open.hub.callDynamic(DOWNLOAD, { ...input, overwrite: true })).ok).toBe(true)
    expect(open.read('x.txt').toString()).toBe('new')
  })

  it('needs no leave to replace what is not there, or what this run wrote or read', async () => {
    http.local.answer = (_, response) => response.end('new')
    const { hub, root, read } = http.fileHub()
    writeFileSync(join(root, 'old.txt'), 'old')
    const download = (destPath: string) =>
      hub.callDynamic(DOWNLOAD, { url: http.url(), destPath, overwrite: true }, { run: 'one' })
    expect((await download('old.txt')).status).toBe('denied')
    expect((await download('free.txt')).ok).toBe(true)
    expect((await download('free.txt')).ok).toBe(true)
    await hub.callDynamic('core/fs.readText', { path: 'old.txt' }, { run: 'one' })
    expect((await download('old.txt')).ok).toBe(true)
    expect(read('old.txt').toString()).toBe('new')
  })

  it('writes nowhere but in the sandbox', async () => {
    let asked = 0
    http.local.answer = (_, response) => {
      asked += 1
      response.end('x')
    }
    const { hub, root } = http.fileHub()
    // A name that nobody else has put there.
    const outside = `${root}-outside`
    for (const destPath of [`../${basename(outside)}`, '/etc/x', '.git/hooks/pre-commit', outside]) {
      expect((await hub.callDynamic(DOWNLOAD, { url: http.url(), destPath })).status, destPath).toBe('denied')
    }
    expect(asked).toBe(0)
    expect(existsSync(outside)).toBe(false)
  })

  it('refuses bad input', async () => {
    const { hub } = http.fileHub()
    for (const more of [
      { maxBytes: 104_857_601 },
      { maxBytes: 1 },
      { timeoutMs: 120_001 },
      { destPath: '' },
      { x: 1 },
    ]) {
      const result = await hub.callDynamic(DOWNLOAD, { url: http.url(), destPath: 'x', ...more })
      expect(result.error?.code).toBe('INPUT_SCHEMA_INVALID')
    }
  })
})
