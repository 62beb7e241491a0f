import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { toolContext } from '../../../../../test/support/tool-context.ts'
import { gzipDecompress } from './gzip-decompress.ts'

const packed = (content: string | Buffer) => gzipSync(content).toString('base64')

function decompress(base64: string, maxBytes = 5_242_880, ctx = toolContext()) {
  return gzipDecompress.execute({ base64, maxBytes }, ctx) as Promise<{ text: string; bytes: number }>
}

describe('core/util.gzip.decompress', () => {
  it('opens gzip data, also wrapped into lines', async () => {
    const ctx = toolContext()
    const text = 'é😀 hello '.repeat(100)
    const base64 = packed(text).replaceAll(/(.{40})/g, '$1\n')
    expect(await decompress(base64, 5_242_880, ctx)).toEqual({ text, bytes: Buffer.byteLength(text) })
    expect(ctx.collected).toHaveLength(1)
  })

  it('runs its own examples', async () => {
    for (const { input } of gzipDecompress.examples!) {
      expect(await decompress((input as { base64: string }).base64)).toEqual({ text: 'hello', bytes: 5 })
    }
  })

  it('opens a file of several members and keeps a byte order mark', async () => {
    const members = Buffer.concat([gzipSync('\ufeffone '), gzipSync('two')]).toString('base64')
    expect((await decompress(members)).text).toBe('\ufeffone two')
  })

  it('stops a bomb at the limit', async () => {
    const bomb = packed(Buffer.alloc(100_000_000))
    await expect(decompress(bomb, 1024)).rejects.toMatchObject({
      code: 'FILE_TOO_LARGE',
      message: expect.stringMatching(/^\d+ bytes decompress to more than 1024, the limit\.$/),
    })
  })

  it.each([
    ['what is not base64', 'not base64!', /not base64/],
    ['base64 of the wrong length', 'H4sIA', /not base64/],
    ['base64 of something else', Buffer.from('hello world').toString('base64'), /not gzip data/],
    ['data that was cut off', gzipSync('hello hello').subarray(0, 15).toString('base64'), /not gzip data/],
    ['bytes that are no text', packed(Buffer.from([0xff, 0xfe, 0x00])), /3 bytes are not UTF-8/],
  ])('refuses %s', async (_, base64, message) => {
    await expect(decompress(base64)).rejects.toMatchObject({
      code: 'INPUT_SCHEMA_INVALID',
      message: expect.stringMatching(message),
    })
  })

  it('stops when aborted, before and during the work', async () => {
    const base64 = packed('x'.repeat(1_000_000))
    await expect(decompress(base64, 5_242_880, toolContext({ signal: AbortSignal.abort() }))).rejects.toThrow()
    const controller = new AbortController()
    const call = decompress(base64, 5_242_880, toolContext({ signal: controller.signal }))
    controller.abort()
    await expect(call).rejects.toThrow()
  })
})
