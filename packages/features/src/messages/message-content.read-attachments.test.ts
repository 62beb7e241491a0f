import { describe, expect, it } from 'vitest'
import { mediaTypeOf, readAttachments } from './message-content.ts'

const ref = (digit: string) => `artifact:${digit.repeat(64)}`
const limits = { maxAttachments: 2, maxAttachmentBytes: 100 }

/** Reads attachments of 30 bytes each; `asked` are the bytes that each of them was allowed. */
function reading(channelLimits: Parameters<typeof readAttachments>[1] = limits) {
  const asked: number[] = []
  const read = async (_: string, maxBytes: number) => {
    asked.push(maxBytes)
    return new Uint8Array(30)
  }
  const attach = (wanted: readonly { ref: string; name?: string }[]) =>
    readAttachments(wanted, channelLimits, { channel: 'ops', read })
  return { attach, asked }
}

describe('the attachments of a message', () => {
  it('are read within what the channel takes of all together', async () => {
    const { attach, asked } = reading()
    expect(await attach([{ ref: ref('a'), name: 'a.csv' }, { ref: ref('b') }])).toEqual([
      { ref: ref('a'), name: 'a.csv', mediaType: 'text/csv; charset=utf-8', content: new Uint8Array(30) },
      { ref: ref('b'), name: 'attachment-2', mediaType: 'application/octet-stream', content: new Uint8Array(30) },
    ])
    expect(asked).toEqual([100, 70])
  })

  it('are at most 10 with 10 MB together, whatever a channel says', async () => {
    const { attach, asked } = reading({ maxAttachments: 99, maxAttachmentBytes: 99_000_000 })
    expect(await attach(Array(10).fill({ ref: ref('a') }))).toHaveLength(10)
    expect(asked[0]).toBe(10_000_000)
    await expect(attach(Array(11).fill({ ref: ref('a') }))).rejects.toThrow('takes at most 10 per message')
  })

  it('have 10 MB where the channel says only how many it takes', async () => {
    const { attach, asked } = reading({ maxAttachments: 1 })
    await attach([{ ref: ref('a') }])
    expect(asked).toEqual([10_000_000])
  })

  it.each([
    [{}, 1, 'takes no attachments', 'Put what matters into the text, or use another channel.'],
    [limits, 3, 'takes at most 2 per message', 'Send the others separately.'],
  ])('are refused by a channel with %j when there are %i', async (channelLimits, count, takes, hint) => {
    const { attach, asked } = reading(channelLimits)
    expect(await attach([])).toEqual([])
    await expect(attach(Array(count).fill({ ref: ref('a') }))).rejects.toMatchObject({
      code: 'INPUT_SCHEMA_INVALID',
      message: `The message has ${count} attachments; the channel ops ${takes}.`,
      fix: { hint },
    })
    expect(asked).toEqual([])
  })

  it.each(['/etc/passwd', `x${ref('a')}`, `${ref('a')}0`, ref('A'), `artifact:${'x'.repeat(200)}`])(
    'are no %j',
    async (odd) => {
      const { attach, asked } = reading()
      await expect(attach([{ ref: odd }])).rejects.toMatchObject({
        code: 'INPUT_SCHEMA_INVALID',
        message: `${JSON.stringify(odd.slice(0, 100))} is not an artifact of this run.`,
        fix: { hint: 'Use the ref of an artifact as a result gives it: artifact:<sha256>.' },
      })
      expect(asked).toEqual([])
    },
  )
})

it.each([
  ['a.txt', 'text/plain; charset=utf-8'],
  ['a.log', 'text/plain; charset=utf-8'],
  ['a.md', 'text/markdown; charset=utf-8'],
  ['a.csv', 'text/csv; charset=utf-8'],
  ['a.json', 'application/json'],
  ['a.html', 'text/html; charset=utf-8'],
  ['a.pdf', 'application/pdf'],
  ['a.PNG', 'image/png'],
  ['a.jpg', 'image/jpeg'],
  ['a.jpeg', 'image/jpeg'],
  ['a.gif', 'image/gif'],
  ['a.webp', 'image/webp'],
  ['a.svg', 'image/svg+xml'],
  ['a.zip', 'application/zip'],
  ['a.txt.gz', 'application/octet-stream'],
  ['txt', 'application/octet-stream'],
])('%s is sent as %s', (name, type) => {
  expect(mediaTypeOf(name)).toBe(type)
})
