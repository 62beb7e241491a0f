import fc from 'fast-check'
import picomatch from 'picomatch'
import { describe, expect, it } from 'vitest'
import { cpuMs } from '../../../../test/support/cpu-time.ts'
import { compilePolicyGlob } from './match-target.ts'

function matches(glob: string, text: string): boolean {
  const matcher = compilePolicyGlob(glob)
  if ('broken' in matcher) throw new Error(matcher.broken)
  return matcher.test(text)
}

describe('a glob', () => {
  it('of names and stars is never broken, because it is compiled only when it is first compared', () => {
    const part = fc.constantFrom(
      'a',
      'B9',
      '.',
      '..',
      '.x',
      '-',
      '_',
      '~',
      '@',
      ' ',
      '/',
      '//',
      '*',
      '**',
      '***',
      '*.ts',
    )
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 12 }), fc.array(part, { maxLength: 6 }), (glob, text) => {
        expect(typeof matches(glob.join(''), text.join(''))).toBe('boolean')
      }),
      { numRuns: 2_000 },
    )
  })

  it('matches what picomatch matches', () => {
    const part = fc.constantFrom(
      'a',
      'b',
      '.',
      '..',
      '-',
      '/',
      '*',
      '**',
      '?',
      '[ab]',
      '[!a]',
      '[a-c]',
      '{a,b}',
      '\\*',
      '{a/b,*}',
      '{**/a,}',
      '{',
      '}',
      ',',
      '\n',
      'é',
      '1',
      '{1..3}',
    )
    const piece = fc.constantFrom('a', 'b', 'c', '.', '..', '-', '/', '*', '[ab]', '\n', '{', '}', ',', 'é', '2')
    // Two dots in braces mean a range of numbers to picomatch; what it makes of other ranges has no sense to compare with.
    const globs = fc
      .array(part, { maxLength: 7 })
      .map((parts) => parts.join(''))
      .filter((glob) => !/\{[^}]*\.\.(?<!\{1\.\.)/.test(glob))
    const texts = fc.array(
      fc.array(piece, { maxLength: 7 }).map((pieces) => pieces.join('')),
      { minLength: 20, maxLength: 20 },
    )
    fc.assert(
      fc.property(globs, texts, (glob, all) => {
        const expected = byPicomatch(glob)
        const matcher = compilePolicyGlob(glob)
        expect('broken' in matcher, glob).toBe(expected === undefined)
        if ('broken' in matcher) return
        for (const text of all) expect(matcher.test(text), JSON.stringify({ glob, text })).toBe(expected?.test(text))
      }),
      { numRuns: 3_000 },
    )
  })

  it('takes a backslash before any character as that character', () => {
    expect(matches('*\\d', 'ad')).toBe(true)
    expect(matches('*\\d', 'a1')).toBe(false)
    expect(matches('{a,b}\\1', 'a1')).toBe(true)
    expect(matches('*[\\d]', 'ad')).toBe(true)
  })

  it.each([
    ['**/build/**/dist/**/*.js', 'build/dist/'.repeat(370)],
    ['**/*-*-*-*-*.bak', '-'.repeat(4_000)],
    ['*a*a*b', 'a'.repeat(65_536)],
    [`*a${'?'.repeat(20)}b`, 'aac'.repeat(21_845)],
    [`${'{a,aa}'.repeat(40)}b`, `${'a'.repeat(79)}c`],
    [`${'**/a/'.repeat(30)}b`, 'a/'.repeat(2_000)],
    ['**/x', Array.from({ length: 60_000 }, (_, index) => String.fromCharCode(256 + index)).join('')],
  ])('%s takes linear time on any text', (glob, text) => {
    const took = cpuMs(() => expect(matches(glob, text)).toBe(false))
    expect(took).toBeLessThan(10_000)
  })

  it('gives the same answer after it had to forget', () => {
    const matcher = compilePolicyGlob('**/*-[a-c]?.{ts,js}')
    if ('broken' in matcher) throw new Error(matcher.broken)
    for (let code = 256; code < 3_000; code++) expect(matcher.test(`${String.fromCharCode(code)}/x-b1.ts`)).toBe(true)
    expect(matcher.test('x-d1.ts')).toBe(false)
  })

  it('is refused when it is too long to be meant', () => {
    expect(compilePolicyGlob('a?'.repeat(10_000))).toHaveProperty('broken')
  })
})

/** Undefined for a glob that picomatch refuses. */
function byPicomatch(glob: string): RegExp | undefined {
  const options = {
    dot: true,
    noextglob: true,
    nonegate: true,
    strictBrackets: true,
    windows: false,
    debug: true,
    flags: 's',
  }
  try {
    return picomatch.makeRe(glob.replaceAll('[!', '[^'), options)
  } catch {
    return undefined
  }
}
