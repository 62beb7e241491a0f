import { ToolError } from '@tool-hub/core/errors'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { changing, outcome } from '../../../../../test/support/changing.ts'
import { sha256 } from '../../../../core/src/lib/hash.ts'

let ws: ReturnType<typeof changing>

beforeEach(() => {
  ws = changing()
  ws.put('old.txt', 'old')
})
afterEach(() => ws.close())

const overwrite = { overwrite: true }

async function* pieces(...texts: string[]) {
  for (const text of texts) yield Buffer.from(text)
}

it('counts and hashes bytes as they come', async () => {
  const written = await ws.handle().writeBytes('x.bin', pieces('ab', 'cd', ''))
  expect(written).toEqual({ bytes: 4, sha256: sha256('abcd') })
  expect(ws.text('x.bin')).toBe('abcd')
})

it('leaves nothing behind when there are too many, or when their source fails or gives text', async () => {
  const write = (content: AsyncIterable<Uint8Array>) =>
    outcome(ws.handle().writeBytes('old.txt', content, { overwrite: true, maxBytes: 3 }))
  expect(await write(pieces('ab', 'cd'))).toBe('FILE_TOO_LARGE')
  async function* broken() {
    yield Buffer.from('a')
    throw new ToolError('UPSTREAM_ERROR', 'cut off')
  }
  expect(await write(broken())).toBe('UPSTREAM_ERROR')
  async function* texts() {
    yield 'a' as unknown as Uint8Array
  }
  expect(await write(texts())).toBe('INPUT_SCHEMA_INVALID')
  expect(ws.names()).toEqual(['old.txt'])
  expect(ws.text('old.txt')).toBe('old')
})

it('asks for no bytes when the write will be refused', async () => {
  let isAsked = false
  async function* asked() {
    isAsked = true
    yield Buffer.from('x')
  }
  ws.seen.set(ws.at('old.txt'), sha256('older'))
  const cautious = ws.handle({ canOverwrite: false })
  expect(await outcome(cautious.writeBytes('old.txt', asked(), overwrite))).toBe('POLICY_DENIED')
  expect(isAsked).toBe(false)
})

it('ends with the call, even if the source hangs, which is reported', async () => {
  const stop = new AbortController()
  let isEnded = false
  const hanging: AsyncIterable<Uint8Array> = {
    [Symbol.asyncIterator]: () => ({
      next: () => {
        setImmediate(() => stop.abort(new ToolError('TIMEOUT', 'The time is over.')))
        return new Promise(() => {})
      },
      return: async () => {
        isEnded = true
        return { done: true, value: undefined }
      },
    }),
  }
  expect(await outcome(ws.handle({ signal: () => stop.signal }).writeBytes('x.bin', hanging))).toBe('TIMEOUT')
  expect(isEnded).toBe(true)
  expect(ws.names()).toEqual(['old.txt'])
})
