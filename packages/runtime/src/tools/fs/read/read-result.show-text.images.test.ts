import fc from 'fast-check'
import { expect, it } from 'vitest'
import { describeImage, imageType } from './read-page.ts'

const gif = Buffer.from('GIF89a\x05\x00\x07\x00\x00\x00\x00;', 'latin1')
const jpeg = Buffer.from('ffd8ffe000104a46494600010100000100010000ffc0001108000300040301220002110103110100', 'hex')
const webp = Buffer.concat([
  Buffer.from('RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00', 'latin1'),
  Buffer.from('2f0140000000', 'hex'),
])

it.each([
  ['a GIF', gif, { mediaType: 'image/gif', width: 5, height: 7 }],
  ['a JPEG', jpeg, { mediaType: 'image/jpeg', width: 4, height: 3 }],
  ['a WebP', webp, { mediaType: 'image/webp', width: 2, height: 2 }],
])('knows type and size of %s', (_, content, facts) => {
  expect(describeImage(content)).toEqual(facts)
})

it('knows no other files', () => {
  for (const text of ['', 'hello', '%PDF-1.7', '<svg width="5" height="5"/>', 'BM', 'RIFF....AVI ']) {
    expect(imageType(Buffer.from(text))).toBeUndefined()
    expect(describeImage(Buffer.from(text))).toBeUndefined()
  }
})

it('gives nothing, and no error, for an image that is cut off or damaged', () => {
  const image = fc.constantFrom(gif, jpeg, webp)
  fc.assert(
    fc.property(image, fc.nat(40), fc.uint8Array({ maxLength: 60 }), (own, length, rest) => {
      const facts = describeImage(Buffer.concat([own.subarray(0, length), rest]))
      expect(facts === undefined || (facts.width > 0 && facts.height > 0)).toBe(true)
    }),
  )
})

it('looks for the size of a JPEG near its beginning only', () => {
  // A part of a JPEG that says nothing: its mark, its 60,000 bytes.
  const part = Buffer.concat([Buffer.from('ffe2ea60', 'hex'), Buffer.alloc(59_998)])
  const sizeAfter = (parts: number) =>
    describeImage(Buffer.concat([jpeg.subarray(0, 20), ...new Array(parts).fill(part), jpeg.subarray(20)]))
  expect(sizeAfter(8)).toEqual({ mediaType: 'image/jpeg', width: 4, height: 3 })
  expect(sizeAfter(10)).toBeUndefined()
})
