import { describe, expect, it } from 'vitest'
import { readSettings } from './memory-settings.ts'
import { isUntrusted, keepsUntrusted, noteTime, scopeKeys, scopeOf, toNote } from './note.ts'
import type { MemoryOptions } from './types.ts'

const LISTED = 'docs/reference/memory.md lists the options.'

describe('the options of memory', () => {
  it('are complete without a word', () => {
    expect(readSettings({})).toEqual({
      ...{ isEnabled: true, writeMode: 'candidate', provider: 'embedded', embed: undefined, noteChars: 20_000 },
      ...{ notesPerScope: 100_000, candidatesPerRun: 1_000, timeoutMs: 10_000 },
    })
  })

  it('are what the owner says, but no note has more than 20,000 characters', () => {
    const limits = { noteChars: 1, notesPerScope: 1, candidatesPerRun: 2, timeoutMs: 3 }
    expect(readSettings({ enabled: false, writeMode: 'external', limits })).toMatchObject({
      ...{ isEnabled: false, writeMode: 'external' },
      ...limits,
    })
    expect(readSettings({ limits: { noteChars: 20_001 } }).noteChars).toBe(20_000)
  })

  it.each(['embedded', { url: 'https://x' }, { mcp: { server: 's', recall: 'find' } }, { recall: async () => [] }])(
    'may name the provider %j',
    (provider) => {
      expect(readSettings({ provider } as MemoryOptions).provider).toBe(provider)
    },
  )

  it.each([
    [{ writemode: 'external' }, 'memory has no option "writemode".', 'Did you mean writeMode?'],
    [{ zzzzzzzz: 1 }, 'memory has no option "zzzzzzzz".', LISTED],
    [{ limits: { notechars: 1 } }, 'memory.limits has no option "notechars".', 'Did you mean noteChars?'],
    [{ writeMode: 'never' }, 'memory.writeMode is "never".', 'Use one of disabled, candidate, external.'],
    [{ embed: 'yes' }, 'memory.embed is not a function.', LISTED],
    [{ limits: { noteChars: 0 } }, 'memory.limits.noteChars is 0.', 'Use a whole number of 1 or more.'],
    [{ limits: { notesPerScope: 1.5 } }, 'memory.limits.notesPerScope is 1.5.', 'Use a whole number of 1 or more.'],
    [{ limits: { candidatesPerRun: -1 } }, 'memory.limits.candidatesPerRun is -1.', 'Use a whole number of 1 or more.'],
    [{ limits: { timeoutMs: '5' } }, 'memory.limits.timeoutMs is "5".', 'Use a whole number of 1 or more.'],
    ...['cloud', null, {}, { url: 7 }, { mcp: {} }, { mcp: { server: 's' } }, { recall: true }].map((provider) => [
      { provider },
      'memory.provider is not a provider.',
      "Use 'embedded', { url }, { mcp: { server, recall } } or an object with recall and write.",
    ]),
  ] as [MemoryOptions, string, string][])('may not be %j', (options, message, hint) => {
    expect(() => readSettings(options)).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID', message, fix: { hint } }),
    )
  })
})

describe('the scopes of a call', () => {
  it('are its own, and those of a principal are known by it', () => {
    const whose = { run: 'r', session: 'a b@c', caller: 'me\0', principal: undefined }
    expect(scopeKeys(whose)).toEqual({
      ...{ run: 'run:r', session: 'session:a%20b%40c', agent: 'agent:me\ufffd', shared: 'shared' },
    })
    expect(scopeKeys({ ...whose, principal: 'token:ci' })).toMatchObject({
      ...{ session: 'session:a%20b%40c@token:ci', agent: 'agent:token:ci' },
    })
  })

  it.each([
    ['run:r', 'run'],
    ['session:s', 'session'],
    ['agent:a', 'agent'],
    ['shared', 'shared'],
    ['shared:x', undefined],
    ['agents:a', undefined],
    ['other', undefined],
  ])('%s is in %s', (key, scope) => {
    expect(scopeOf(key)).toBe(scope)
  })
})

describe('a note of the store', () => {
  const stored = { id: 'n', scope: 'agent:a', text: 'T', tags: ['x'], createdAt: 1, updatedAt: 2, seq: 3 }
  const origin = { tainted: false, reviewed: true, at: 5, caller: 'c'.repeat(1_000) }

  it('is shown with where it comes from', () => {
    expect(toNote({ ...stored, origin: JSON.stringify(origin) })).toEqual({
      ...{ id: 'n', scope: 'agent', key: 'agent:a', content: 'T', tags: ['x'], createdAt: 1, updatedAt: 2, origin },
    })
  })

  it.each([
    ['no JSON', '{'],
    ['a long name', JSON.stringify({ ...origin, caller: 'c'.repeat(1_001) })],
    ['no word about taint', JSON.stringify({ reviewed: true, at: 5 })],
  ])("is taken for a stranger's with %s", (_, text) => {
    expect(toNote({ ...stored, origin: text }).origin).toEqual({ tainted: true, reviewed: false, at: 1 })
  })

  it('has a time that a date can have', () => {
    const times = [0, 8.64e15, -1, 8.64e15 + 1]
    expect(times.map((time) => noteTime.safeParse(time).success)).toEqual([true, true, false, false])
  })

  it.each([
    [true, false, true],
    [true, true, false],
    [false, false, false],
  ])('tainted %s and reviewed %s holds words of a stranger: %s', (tainted, reviewed, isStrange) => {
    const of = { tainted, reviewed, at: 1 }
    expect(isUntrusted(of)).toBe(isStrange)
    const note = toNote({ ...stored, origin: JSON.stringify(of) })
    expect([{}, { content: 'x' }, { tags: [] }].map((change) => keepsUntrusted(note, change))).toEqual(
      Array(3).fill(isStrange),
    )
    expect(keepsUntrusted(note, { content: 'x', tags: [] })).toBe(false)
  })
})
