import fc from 'fast-check'
import { expect, it } from 'vitest'
import { helloFor } from '../../../../../test/support/secure-test.ts'
import { readServerName } from './open-tunnel.ts'

it('finds the name in what Node sends', async () => {
  expect(readServerName(await helloFor('a.example'))).toEqual({ type: 'hello', serverName: 'a.example' })
  const withEarlyData = Buffer.concat([await helloFor('a.example'), Buffer.from([23, 3, 3, 0, 1, 9])])
  expect(readServerName(withEarlyData)).toEqual({ type: 'hello', serverName: 'a.example' })
  expect(readServerName(await helloFor(undefined))).toEqual({ type: 'hello', serverName: undefined })
})

it('waits for all of it, however it is cut', async () => {
  const hello = await helloFor('a.example')
  expect(readServerName(hello.subarray(0, 3))).toEqual({ type: 'part', needs: 5 })
  expect(readServerName(hello.subarray(0, 9))).toEqual({ type: 'part', needs: hello.length })
  for (let length = 0; length < hello.length; length += 1) {
    expect(readServerName(hello.subarray(0, length)), `${length} bytes`).toMatchObject({ type: 'part' })
  }
  for (const size of [100, 200]) {
    expect(readServerName(inRecords(hello.subarray(5), size))).toEqual({ type: 'hello', serverName: 'a.example' })
  }
  expect(readServerName(inRecords(hello.subarray(5), 3))).toEqual({ type: 'other' })
})

it('takes nothing else for one', async () => {
  const hello = await helloFor('a.example')
  const serverHello = Buffer.from(hello)
  serverHello[5] = 2
  const words = [
    'GET / HTTP/1.1\r\n\r\n',
    'SSH-2.0-x\r\n',
    '\x16\x02',
    '\x16\x03\x01\x00\x00',
    '\x16\x03\x01\xff\xff',
    '\0',
  ]
  for (const bytes of [...words.map((word) => Buffer.from(word, 'latin1')), serverHello]) {
    expect(readServerName(bytes), bytes.toString('latin1').slice(0, 20)).toEqual({ type: 'other' })
  }
})

it('refuses a hello with two names', async () => {
  const extension = Buffer.from('\0\0\0\x0e\0\x0c\0\0\x09b.example', 'latin1')
  expect(readServerName(withExtension(await helloFor(undefined), extension))).toMatchObject({ serverName: 'b.example' })
  expect(readServerName(withExtension(await helloFor('a.example'), extension))).toEqual({ type: 'other' })
})

it('reads a hello of up to 16 records and 16384 bytes', async () => {
  const message = (await helloFor('a.example')).subarray(5)
  const inParts = (count: number) => readServerName(inRecords(message, Math.ceil(message.length / count)))
  expect(inParts(16)).toEqual({ type: 'hello', serverName: 'a.example' })
  expect(inParts(17)).toEqual({ type: 'other' })
  const ending = (bytes: number) => readServerName(Buffer.from([22, 3, 1, (bytes - 5) >> 8, (bytes - 5) & 255]))
  expect([ending(16_384), ending(16_385)]).toEqual([{ type: 'part', needs: 16_384 }, { type: 'other' }])
})

it.each([
  ['nothing', [], { type: 'part', needs: 5 }],
  ['one byte of a record', [22], { type: 'part', needs: 5 }],
  ['its version', [22, 3], { type: 'part', needs: 5 }],
  ['another version', [22, 2], { type: 'other' }],
  ['another kind of record', [23], { type: 'other' }],
  ['a record of nothing', [22, 3, 1, 0, 0], { type: 'other' }],
  ['a record that begins', [22, 3, 1, 0, 4, 1], { type: 'part', needs: 9 }],
  ['a message whose head is not there yet', [22, 3, 1, 0, 2, 1, 0], { type: 'part', needs: 12 }],
  ['a message that continues in another record', [22, 3, 1, 0, 4, 1, 0, 0, 9], { type: 'part', needs: 14 }],
  ['a message that is too short for a hello', [22, 3, 1, 0, 5, 1, 0, 0, 1, 0], { type: 'other' }],
  ['another message', [22, 3, 1, 0, 1, 2], { type: 'other' }],
])('takes %s for what it is', (_, bytes, expected) => {
  expect(readServerName(Buffer.from(bytes))).toEqual(expected)
})

it('refuses a name that is not a host name, two names in one list, and lengths that lead out of it', async () => {
  const bare = await helloFor(undefined)
  const named = (text: string) => readServerName(withExtension(bare, Buffer.from(text, 'latin1')))
  expect(named('\0\0\0\x06\0\x04\0\0\x01b')).toEqual({ type: 'hello', serverName: 'b' })
  expect(named('\0\x01\0\x06\0\x04\0\0\x01b')).toEqual({ type: 'hello', serverName: undefined })
  expect(named('\0\0\0\x06\0\x04\x01\0\x01b')).toEqual({ type: 'other' })
  expect(named('\0\0\0\x0a\0\x08\0\0\x01b\0\0\x01c')).toEqual({ type: 'other' })
  expect(named('\0\0\0\x06\0\x04\0\0\x02b')).toEqual({ type: 'other' })
  expect(named('\0\0\0\x06\0\x05\0\0\x01b')).toEqual({ type: 'other' })
})

it('survives anything', async () => {
  const hello = await helloFor('a.example')
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(hello.length - 1), fc.nat(255)), { maxLength: 8 }), (changes) => {
      const bytes = Buffer.from(hello)
      for (const [at, value] of changes) bytes[at] = value
      expect(['part', 'other', 'hello']).toContain(readServerName(bytes).type)
    }),
    { numRuns: 500 },
  )
})

function inRecords(message: Buffer, size: number): Buffer {
  const records: Buffer[] = []
  for (let at = 0; at < message.length; at += size) {
    const part = message.subarray(at, at + size)
    records.push(Buffer.from([22, 3, 1, part.length >> 8, part.length & 255]), part)
  }
  return Buffer.concat(records)
}

/** Puts one more extension at the end, with all lengths around it. */
function withExtension(hello: Buffer, extension: Buffer): Buffer {
  const message = Buffer.concat([hello.subarray(5), extension])
  const sessionAt = 4 + 2 + 32
  const ciphersAt = sessionAt + 1 + message[sessionAt]!
  const compressionAt = ciphersAt + 2 + message.readUInt16BE(ciphersAt)
  const extensionsAt = compressionAt + 1 + message[compressionAt]!
  message.writeUInt16BE(message.readUInt16BE(extensionsAt) + extension.length, extensionsAt)
  message.writeUIntBE(message.length - 4, 1, 3)
  return inRecords(message, 16_000)
}
