import { describe, expect, it } from 'vitest'
import { readReferences } from './channel-settings.ts'

/** A host that knows one secret, and what it has to hide. */
function referring() {
  const hidden: string[] = []
  const host = {
    secret: (name: string) => (name === 'bot.token-1' ? 'value-of-secret' : name === 'empty' ? '' : undefined),
    hide: (values: readonly string[]) => void hidden.push(...values),
  }
  return { ...readReferences('ops', host), hidden }
}

describe('the text of a channel', () => {
  it('is itself, or what it refers to, which is hidden from then on', () => {
    const { read, hidden } = referring()
    expect(read('url', 'https://example.org')).toBe('https://example.org')
    expect(hidden).toEqual([])
    expect(read('token', '${secret:bot.token-1}')).toBe('value-of-secret')
    expect(read('path', '${env:PATH}')).toBe(process.env.PATH)
    expect(hidden).toEqual(['value-of-secret', process.env.PATH])
  })

  it('that is secret is hidden also where it is written down', () => {
    const { readSecret, hidden } = referring()
    expect(readSecret('token', 'written-down')).toBe('written-down')
    expect(hidden).toEqual(['written-down'])
  })

  it.each(['x${env:PATH}', '${env:PATH}x', '${file:PATH}', '${env:1}', '${env:}'])('%s refers to nothing', (text) => {
    expect(referring().read('url', text)).toBe(text)
  })

  it.each([
    ['${secret:other}', 'the secret other', 'Add other to secrets in tool-hub.yaml.'],
    ['${secret:empty}', 'the secret empty', 'Add empty to secrets in tool-hub.yaml.'],
    [
      '${env:NO_SUCH_VARIABLE}',
      'the environment variable NO_SUCH_VARIABLE',
      'Set NO_SUCH_VARIABLE where tool-hub runs.',
    ],
    ['${env:constructor}', 'the environment variable constructor', 'Set constructor where tool-hub runs.'],
  ])('%s is not set', (text, what, hint) => {
    expect(() => referring().read('token', text)).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message: `The channel ops needs ${what} (token), which is not set.`,
        fix: { hint },
      }),
    )
  })
})
