import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
// Replaces the connections of Node's own fetch when it is loaded first, as other parts of a hub may do.
import 'undici'
import { systemClock } from '@tool-hub/core'
import { sha256 } from '@tool-hub/core/lib'
import { beforeEach, describe, expect, it } from 'vitest'
import { serveObjects } from '../../../../test/support/object-service.ts'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import { ObjectBucket } from './bucket.ts'
import { bucketAddress } from './bucket-address.ts'

const service = await serveObjects()
/** Waits between tries are none of the test's business. */
const clock = { ...systemClock, after: (_: number, done: () => void) => systemClock.after(0, done) }
const bucket = new ObjectBucket(service.options, clock)
const content = Buffer.from('ä line\n')
const hash = sha256(content)
const read = (name: string) => bucket.get(name, { hash, maxBytes: 100 })

beforeEach(() => {
  service.intercept = () => false
  service.requests.length = 0
  service.objects.clear()
})

describe('an object of a bucket', () => {
  it('is stored, read and removed by signed requests below the address', async () => {
    await bucket.put('segments/run-1/1-9 ä', content, hash)
    expect([...service.objects.keys()]).toEqual(['/bucket/hub/segments/run-1/1-9%20%C3%A4'])
    expect(Buffer.from(await read('segments/run-1/1-9 ä')).equals(content)).toBe(true)
    await bucket.remove('segments/run-1/1-9 ä')
    await bucket.remove('segments/run-1/1-9 ä')
    expect(service.objects.size).toBe(0)
    await expect(read('gone')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('is sent from a file without being in memory, and read in parts', async () => {
    const path = join(temporaryFolder('bucket'), 'file')
    const big = randomBytes(5_000_000)
    await writeFile(path, big)
    await bucket.put('big', { path, bytes: big.length }, sha256(big))
    expect(service.objects.get('/bucket/hub/big')?.equals(big)).toBe(true)
    const pieces: Uint8Array[] = []
    for await (const piece of bucket.read('big', { start: 1_000, end: 3_000_000 })) pieces.push(piece)
    expect(Buffer.concat(pieces).equals(big.subarray(1_000, 3_000_000))).toBe(true)
    for await (const _ of bucket.read('big', { start: 5, end: 5 })) expect.unreachable()
  })

  it('is refused by the service if it is not what its hash says', async () => {
    await expect(bucket.put('wrong', content, sha256('other'))).rejects.toMatchObject({
      code: 'UPSTREAM_ERROR',
      message: 'The bucket refused wrong: XAmzContentSHA256Mismatch.',
      retryable: false,
    })
    expect(service.requests).toHaveLength(1)
  })
})

describe('a service that fails', () => {
  it('is tried again after an error of its own, and after a connection that broke', async () => {
    let tries = 0
    service.intercept = (request, response) => {
      tries++
      if (tries === 1) request.socket.destroy()
      if (tries === 2) response.writeHead(503).end('slow down')
      return tries < 3
    }
    await bucket.put('a', content, hash)
    expect(tries).toBe(3)
    expect(service.objects.has('/bucket/hub/a')).toBe(true)
  })

  it('is given up after four tries, with what to check', async () => {
    service.intercept = (_, response) => {
      response.writeHead(500).end('<Error><Code>InternalError</Code></Error>')
      return true
    }
    await expect(bucket.put('a', content, hash)).rejects.toMatchObject({
      code: 'UPSTREAM_ERROR',
      message: 'The bucket refused a: InternalError.',
      retryable: true,
      fix: { key: 'records.bucket' },
    })
    expect(service.requests).toHaveLength(4)
  })

  it('says that a key is wrong at the first try, and nothing of the secret', async () => {
    const other = new ObjectBucket({ ...service.options, secretAccessKey: 'another secret' }, clock)
    const error = await other.put('a', content, hash).catch((thrown) => thrown)
    expect(error).toMatchObject({ message: 'The bucket refused a: SignatureDoesNotMatch.', retryable: false })
    expect(JSON.stringify(error)).not.toContain('another secret')
    expect(service.requests).toHaveLength(1)
  })

  it.each<[string, number, string, string, string | undefined]>([
    ['a redirect', 307, '', 'HTTP 307', 'another address or in another region'],
    ['terminal codes in the answer', 400, '<Code>\u001b[31mBad</Code>', 'HTTP 400', undefined],
    ['a huge answer', 400, `${'x'.repeat(1_000_000)}<Code>Late</Code>`, 'HTTP 400', undefined],
  ])('cannot do harm with %s', async (_, status, text, shown, hint = '') => {
    service.intercept = (_request, response) => {
      response.writeHead(status, status === 307 ? { location: 'http://127.0.0.1:1/' } : {}).end(text)
      return true
    }
    await expect(bucket.put('a', content, hash)).rejects.toMatchObject({
      message: `The bucket refused a: ${shown}.`,
      fix: { hint: expect.stringContaining(hint) },
    })
  })

  it.each<[string, string | Buffer, object]>([
    ['other content', 'other', { code: 'CONFLICT' }],
    ['more than it may', Buffer.alloc(200), { message: expect.stringContaining('more than 100 bytes') }],
    ['nothing', '', { code: 'CONFLICT' }],
  ])('is not believed: %s', async (_, text, error) => {
    service.intercept = (_request, response) => {
      response.writeHead(200).end(text)
      return true
    }
    await expect(read('a')).rejects.toMatchObject(error)
  })

  it('cannot answer with a shorter range', async () => {
    service.intercept = (_request, response) => {
      response.writeHead(206).end('ab')
      return true
    }
    const reading = async () => {
      for await (const _ of bucket.read('a', { start: 0, end: 3 }));
    }
    await expect(reading()).rejects.toMatchObject({ message: expect.stringContaining('1 bytes too early') })
  })
})

describe('the address of a bucket', () => {
  it('may end in a slash', () => {
    expect(bucketAddress('https://s3.example.org/bucket//')).toBe('https://s3.example.org/bucket')
  })

  it.each(['', 'bucket', 'ftp://a/b', 'https://user:pass@a/b', 'https://a/b?x=1', 'https://a/b#c'])(
    'is refused: %s',
    (url) => {
      expect(() => bucketAddress(url)).toThrow('records.bucket.url is not the address of a bucket.')
    },
  )
})
