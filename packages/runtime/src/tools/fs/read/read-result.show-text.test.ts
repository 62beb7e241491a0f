import { expect, it } from 'vitest'
import { fileHub } from '../../../../../../test/support/file-hub.ts'

const textOf = (content: readonly { readonly type: string; readonly text?: string }[]) =>
  content.map(({ text = '' }) => text).join('\n')

it.each([
  ['an even place', ''],
  ['an odd place', 'a'],
])('cuts a long line of pairs at %s between characters, and says how to read on in it', async (_, begin) => {
  const line = begin + '😀'.repeat(20_000)
  const { call } = fileHub({ 'a.txt': `${line}\nlast` }, {})
  let read = ''
  let byteOffset: number | undefined
  do {
    const { content } = await call('core/fs.readText', { path: 'a.txt', byteOffset })
    const [, shown = '', next] = /^(.*?)\n\n\[.*?(?:byteOffset=(\d+) .*)?\]$/s.exec(textOf(content))!
    expect(shown).not.toMatch(/\p{Surrogate}/u)
    read += shown
    byteOffset = next === undefined ? undefined : Number(next)
  } while (byteOffset !== undefined)
  expect(read === `${line}\nlast`).toBe(true)
})

it('splits no character of the output of a command', async () => {
  for (const outputChars of [1_000, 1_001, 1_002, 1_003]) {
    const { call } = fileHub(
      { 'a.txt': `a${'😀'.repeat(20_000)}b` },
      { policy: [{ allow: 'exec' }], limits: { outputChars } },
    )
    const { content } = await call('bash', { command: 'cat a.txt' })
    expect(textOf(content)).not.toMatch(/\p{Surrogate}/u)
    expect(textOf(content)).toMatch(/^a.*characters cut.*b$/s)
  }
})
