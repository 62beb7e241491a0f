import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { toolContext } from '../../../../../test/support/tool-context.ts'
import { gzipCompress } from './gzip-compress.ts'

type Output = { base64: string; bytes: number; originalBytes: number }

describe('core/util.gzip.compress', () => {
  it('makes gzip data that any reader opens', async () => {
    const ctx = toolContext()
    const text = 'é😀 hello '.repeat(1000)
    const { base64, bytes, originalBytes } = (await gzipCompress.execute({ text }, ctx)) as Output
    const data = Buffer.from(base64, 'base64')
    expect(data).toHaveLength(bytes)
    expect(gunzipSync(data).toString()).toBe(text)
    expect(originalBytes).toBe(Buffer.byteLength(text))
    expect(bytes).toBeLessThan(originalBytes / 50)
    expect(ctx.collected).toHaveLength(1)
  })

  it('compresses an empty text', async () => {
    expect(await gzipCompress.execute({ text: '' }, toolContext())).toMatchObject({ originalBytes: 0 })
  })

  it('refuses more than 10 MB with the numbers', async () => {
    await expect(gzipCompress.execute({ text: 'x'.repeat(10_485_761) }, toolContext())).rejects.toMatchObject({
      code: 'FILE_TOO_LARGE',
      message: 'The text has 10485761 bytes, the limit is 10485760.',
    })
  })

  it('stops when aborted, before and during the work', async () => {
    await expect(gzipCompress.execute({ text: 'x' }, toolContext({ signal: AbortSignal.abort() }))).rejects.toThrow()
    const controller = new AbortController()
    const call = gzipCompress.execute({ text: 'x'.repeat(1_000_000) }, toolContext({ signal: controller.signal }))
    controller.abort()
    await expect(call).rejects.toThrow()
  })
})
