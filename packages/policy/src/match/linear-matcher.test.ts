import { expect, it } from 'vitest'
import { LinearMatcher, readExpression } from './linear-matcher.ts'

it.each([
  ['[a', '[a'],
  ['a]', ''],
  ['a)', ')'],
  ['(a', ''],
  ['(?:a', ''],
  ['*', ''],
  ['+a', 'a'],
  ['?', ''],
  ['a{2}', '2}'],
  ['\\d', ''],
  ['\\B', ''],
  ['\\1x', 'x'],
  ['a\\', ''],
  ['(?=a)', '=a)'],
  [`a)${'b'.repeat(30)}`, `)${'b'.repeat(19)}`],
])('the expression %s, which picomatch would not write, is refused', (source, near) => {
  expect(() => readExpression(source)).toThrow(new SyntaxError(`it cannot be read near ${JSON.stringify(near)}`))
})

it.each([
  ['', ['', 'a'], [true, false]],
  ['a', ['a', 'b', 'aa', ''], [true, false, false, false]],
  ['a|bc', ['a', 'bc', 'b', 'abc'], [true, true, false, false]],
  ['a?b', ['b', 'ab', 'aab'], [true, true, false]],
  ['(?:ab)*?c', ['c', 'ababc', 'abac'], [true, true, false]],
  ['(a|b)c', ['ac', 'bc', 'c'], [true, true, false]],
  ['.', ['\n', 'é', ''], [true, true, false]],
  ['[a-c]', ['b', 'd'], [true, false]],
  ['[^/]', ['a', '/', '0', '.'], [true, false, true, true]],
  ['[\\]]', [']', '\\'], [true, false]],
  ['^a$', ['a'], [true]],
  ['a^b', ['ab'], [false]],
  ['a$b', ['ab'], [false]],
  ['(?=.)a?', ['a', ''], [true, false]],
  ['\\.a', ['.a', 'xa'], [true, false]],
  [
    '(?!\\.{1,2}(?:\\/|$)).*?',
    ['.', '..', '...', './a', '../a', '.a', 'a', ''],
    [false, false, true, false, false, true, true, true],
  ],
  [
    '\\.(?!\\.{0,1}(?:\\/|$)).*?',
    ['.', '..', '...', './a', '../a', '.a', '.ab'],
    [false, false, true, false, false, true, true],
  ],
  [
    '(?!(?:^|\\/)\\.{1,2}(?:\\/|$)).*?',
    ['.', '..', './a', '../a', '/.', '/..', '/../a', '/.a', '...', 'a', ''],
    [false, false, false, false, false, false, false, true, true, true, true],
  ],
  ['a(?!(?:^|\\/)\\.{1,2}(?:\\/|$)).*?', ['a.', 'a/.', 'a/../b', 'a/b', 'a'], [true, false, false, true, true]],
])('the expression %s is followed as JavaScript would', (source, texts, expected) => {
  const whole = `^(?:${source})$`
  const matcher = new LinearMatcher(whole)
  const expression = new RegExp(whole, 's')
  expect(texts.map((text) => matcher.test(text))).toEqual(expected)
  expect(texts.map((text) => expression.test(text))).toEqual(expected)
})

it('gives the same answers after more texts than it remembers ways for', () => {
  const matcher = new LinearMatcher('^(?:(?:a|b)*?(?:a.......)é?)$')
  const text = (index: number) =>
    [...index.toString(2).padStart(9, '0')].map((bit) => (bit === '1' ? 'a' : 'b')).join('')
  const rare = (index: number) => `${text(index)}${String.fromCharCode(0x100 + index)}`
  for (let round = 0; round < 2; round++)
    for (let index = 0; index < 512; index++) {
      expect(matcher.test(text(index)), text(index)).toBe(text(index).at(-8) === 'a')
      expect(matcher.test(rare(index)), rare(index)).toBe(text(index).at(-7) === 'a')
      expect(matcher.test(`${text(index)}é`)).toBe(text(index).at(-8) === 'a' || text(index).at(-7) === 'a')
    }
})
