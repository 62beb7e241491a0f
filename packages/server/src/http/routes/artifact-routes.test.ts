import { createHash } from 'node:crypto'
import { readdir, readFile, readlink, writeFile } from 'node:fs/promises'
import { request as openRequest } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type HttpServed, serveHttp } from '../../../../../test/support/http-served.ts'
import { defineTool } from '../../../../core/src/tool.ts'

const ping = defineTool({
  name: 'ping',
  description: 'Pings.',
  input: z.strictObject({ text: z.string().default('') }),
  execute: ({ text }) => text,
})
const keep = defineTool({
  name: 'keep',
  description: 'Keeps that many bytes.',
  input: z.strictObject({ bytes: z.number(), fill: z.string() }),
  execute: async ({ bytes, fill }, ctx) => (await ctx.artifact(Buffer.alloc(bytes, fill))).sha256,
})

let served: HttpServed
let reader = ''
let approver = ''
let caller = ''
beforeAll(async () => {
  served = await serveHttp({ tools: [ping, keep] })
  reader = await served.newToken('reader', ['read'])
  approver = await served.newToken('approver', ['approve', 'call'])
  caller = await served.newToken('caller', ['call'])
})
afterAll(() => served.close())

/** An artifact of this many bytes: where it is served, and where it lies. */
async function kept(bytes: number, fill: string) {
  const { json } = await served.ask('POST', '/v1/tools/keep/call', caller, { input: { bytes, fill } })
  const hash: string = json.data
  const { json: detail } = await served.ask('GET', `/v1/calls/${json.callId}`, reader)
  const file = join(served.hub.folder, 'runs', detail.call.run, 'artifacts', hash)
  return { hash, file, path: `/v1/artifacts/${hash}` }
}

describe('an artifact', () => {
  const text = 'abcdefghij'.repeat(10_000)
  const fetchPart = (path: string, token: string, headers: Record<string, string> = {}) =>
    served.ask('GET', path, token, undefined, headers)

  it('is read whole or in parts by whose it is and by who may look at everything', async () => {
    const { json } = await served.ask('POST', '/v1/tools/ping/call', caller, { input: { text } })
    const [artifact] = json.artifacts
    const path = `/v1/artifacts/${artifact.sha256}`
    const whole = await fetchPart(path, caller)
    expect([whole.status, whole.text.length]).toEqual([200, artifact.bytes])
    expect(whole.headers.get('content-disposition')).toMatch(/^attachment/)
    const part = await fetchPart(path, caller, { range: 'bytes=1-3' })
    expect([part.status, part.text, part.headers.get('content-range')]).toEqual([
      206,
      whole.text.slice(1, 4),
      `bytes 1-3/${artifact.bytes}`,
    ])
    expect((await fetchPart(path, caller, { range: 'bytes=-5' })).text).toBe(whole.text.slice(-5))
    const outside = await fetchPart(path, caller, { range: `bytes=${artifact.bytes}-` })
    expect([outside.status, outside.headers.get('content-range')]).toEqual([416, `bytes */${artifact.bytes}`])
    expect((await fetchPart(path, caller, { range: 'bytes=0-1', 'if-range': '"other"' })).status).toBe(200)
    const { json: detail } = await served.ask('GET', `/v1/calls/${json.callId}`, reader)
    const byRun = `${path}?run=${detail.call.run}`
    expect((await fetchPart(byRun, reader)).status).toBe(200)
    expect((await fetchPart(byRun, approver)).status).toBe(404)
    expect((await fetchPart(path, reader)).status).toBe(404)
  })

  it.each([
    '/v1/artifacts/..%2f..%2fstore.db',
    `/v1/artifacts/${'a'.repeat(64)}`,
    `/v1/artifacts/${'a'.repeat(64)}?run=..%2f..`,
    `/v1/artifacts/${'a'.repeat(64)}?run=never-was`,
  ])('is not at %s', async (path) => {
    expect((await fetchPart(path, caller)).status).toBe(404)
    expect((await fetchPart(path, reader)).status).toBe(404)
  })

  it('that is large comes piece by piece, and can be asked for without', async () => {
    const { path, hash } = await kept(3_000_000, 'large')
    const response = await fetch(new URL(path, served.server.url), { headers: { authorization: `Bearer ${caller}` } })
    const bytes = new Uint8Array(await response.arrayBuffer())
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(hash)
    const head = await served.ask('HEAD', path, caller)
    expect([head.status, head.headers.get('content-length')]).toEqual([200, '3000000'])
    const part = await fetchPart(path, caller, { range: 'bytes=2999990-' })
    expect([part.status, part.text]).toEqual([206, 'largelarge'])
    const { path: none } = await kept(0, 'x')
    expect(await fetchPart(none, caller)).toMatchObject({ status: 200, text: '' })
  })

  it('that was changed on disk never arrives whole: a small one is refused, a large one breaks off', async () => {
    const [small, large, short] = [await kept(1_000, 'a'), await kept(3_000_000, 'b'), await kept(2_000_000, 'c')]
    for (const { file } of [small, large]) {
      const bytes = await readFile(file)
      bytes[10] = 0
      await writeFile(file, bytes)
    }
    const refused = await fetchPart(small.path, caller)
    expect([refused.status, refused.json.error.code]).toEqual([409, 'CONFLICT'])
    await expect(fetchPart(large.path, caller)).rejects.toThrow()
    // A part is given as it is: nobody says that it is the right one.
    expect((await fetchPart(large.path, caller, { range: 'bytes=9-11' })).text).toBe('b\0b')
    await writeFile(short.file, 'c')
    expect((await fetchPart(short.path, caller)).status).toBe(409)
  })

  it.skipIf(process.platform !== 'linux')('is left alone when its reader goes away', async () => {
    const { path, hash } = await kept(30_000_000, 'd')
    const isOpen = async () => {
      const open = (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ''))
      return (await Promise.all(open)).some((file) => file.endsWith(hash))
    }
    const request = openRequest(new URL(path, served.server.url), { headers: { authorization: `Bearer ${caller}` } })
    request.on('error', () => {}).end()
    await new Promise((resolve) => request.once('response', resolve))
    expect(await isOpen()).toBe(true)
    request.destroy()
    await expect.poll(isOpen).toBe(false)
  })
})

it('nothing failed that nobody expected', () => {
  expect(served.errors).toEqual([])
})
