import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parsePatch } from './parse-patch.ts'
import { updateText } from './plan-patch.ts'

const wrap = (...lines: string[]) => ['*** Begin Patch', ...lines, '*** End Patch'].join('\n')
const refused = (code: string, message: RegExp) =>
  expect.objectContaining({ code, message: expect.stringMatching(message) })

function update(text: string, ...lines: string[]): string {
  const [section] = parsePatch(wrap('*** Update File: a', ...lines))
  if (section?.type !== 'update') throw new Error('not an update')
  return updateText(text, section.chunks, 'a').text
}

describe('reading a patch', () => {
  it('knows files to add, update, move and delete', () => {
    const patch = wrap(
      '*** Add File: new.txt',
      '+one',
      '+',
      '*** Update File: old.txt',
      '*** Move to: moved.txt',
      '@@ class A',
      '@@   go()',
      ' context',
      '-gone',
      '+here',
      '*** End of File',
      '',
      '*** Delete File: dead.txt',
    )
    const lines = [
      { sign: ' ', text: 'context' },
      { sign: '-', text: 'gone' },
      { sign: '+', text: 'here' },
    ]
    expect(parsePatch(patch)).toEqual([
      { type: 'add', path: 'new.txt', lines: ['one', ''] },
      {
        type: 'update',
        path: 'old.txt',
        to: 'moved.txt',
        chunks: [{ anchors: ['class A', '  go()'], lines, isAtEnd: true, line: 7 }],
      },
      { type: 'delete', path: 'dead.txt' },
    ])
  })

  it('does not mind Windows line ends and blanks around it', () => {
    expect(parsePatch(`\n${wrap('*** Delete File: a').replaceAll('\n', '\r\n')}\r\n\r\n`)).toHaveLength(1)
  })

  it.each([
    ['nothing', '', /^Line 2 of the patch: expected "\*\*\* Begin Patch", but the patch ends/],
    ['no end', '*** Begin Patch\n*** Delete File: a', /^Line 3 .* but the patch ends/],
    ['no file', wrap(), /at least one file/],
    ['an unknown part', wrap('*** Rename File: a'), /^Line 2 .* "\*\*\* Add File/],
    ['no path', wrap('*** Add File: '), /^Line 2 .* a path after/],
    ['an update without changes', wrap('*** Update File: a'), /^Line 3 .* changes of "a"/],
    ['a chunk that changes nothing', wrap('*** Update File: a', ' x'), /begins with \+ or -/],
    ['a line without its sign', wrap('*** Update File: a', '-x', 'y'), /^Line 4 .*"y"/],
    ['words after the end', `${wrap('*** Delete File: a')}\nmore`, /^Line 4 .* nothing after/],
    ['a file twice', wrap('*** Delete File: a', '*** Add File: ./a'), /names ".\/a" twice/],
  ])('refuses %s and says where', (_, patch, message) => {
    expect(() => parsePatch(patch)).toThrow(refused('INPUT_SCHEMA_INVALID', message))
  })

  it('ends for any text with a patch or an error of its own', () => {
    const line = fc.constantFrom(
      '*** Begin Patch',
      '*** End Patch',
      '*** Update File: a',
      '*** Add File: b',
      '@@',
      '@@ x',
      ' x',
      '+y',
      '-z',
      '',
      '*** End of File',
      '*** Move to: c',
    )
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        try {
          expect(parsePatch(lines.join('\n')).length).toBeGreaterThan(0)
        } catch (error) {
          expect(error).toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
        }
      }),
    )
  })

  it('is bounded', () => {
    const many = Array.from({ length: 401 }, (_, index) => `*** Delete File: ${index}`)
    expect(() => parsePatch(wrap(...many))).toThrow(refused('INPUT_SCHEMA_INVALID', /more than 400 files/))
  })
})

describe('updating a text', () => {
  it('changes lines in the middle and keeps what is around', () => {
    expect(update('a\nb\nc\n', ' a', '-b', '+B', '+B2', ' c')).toBe('a\nB\nB2\nc\n')
  })

  it('goes from chunk to chunk', () => {
    expect(update('a\nb\nc\nd\ne\n', '-a', '+A', '@@', '-e', '+E')).toBe('A\nb\nc\nd\nE\n')
  })

  it('finds the place after its anchors', () => {
    const text = 'def one():\n  x = 1\n\ndef two():\n  x = 1\n'
    expect(update(text, '@@ def two():', '-  x = 1', '+  x = 2')).toBe('def one():\n  x = 1\n\ndef two():\n  x = 2\n')
    expect(update(text, '@@ def two():', ' def two():', '-  x = 1', '+  x = 2')).toContain('two():\n  x = 2')
    expect(update(text, '@@ def one():', '+  y = 0')).toBe('def one():\n  y = 0\n  x = 1\n\ndef two():\n  x = 1\n')
  })

  it('refuses lines that stand twice when no anchor says which are meant', () => {
    expect(() => update('x\ny\nx\n', '-x', '+z')).toThrow(refused('CONFLICT', /stand 2 times in "a", at lines 1, 3/))
  })

  it('says where lines that are not there nearly are', () => {
    expect(() => update('one\ntwo two\nthree\n', ' one', '-two too', '+2')).toThrow(
      refused('NOT_FOUND', /Line 3 of the patch: .* Nearest: line 1; line 2 differs: the file has "two two"/),
    )
    expect(() => update('one\n', '@@ nowhere', '-one', '+1')).toThrow(refused('NOT_FOUND', /no line "nowhere"/))
  })

  it('does not mind blanks at line ends and keeps those of context lines', () => {
    expect(update('a  \nb\t\nc', ' a', '-b', '+B')).toBe('a  \nB\nc')
  })

  it('keeps Windows line ends, and a last line without one', () => {
    expect(update('a\r\nb\r\nc', '-b', '+B', '+D')).toBe('a\r\nB\r\nD\r\nc')
    expect(update('a\r\nb', ' b', '+c')).toBe('a\r\nb\r\nc')
    expect(update('a\n', '+b')).toBe('a\nb\n')
    expect(update('', '+b')).toBe('b\n')
  })

  it('changes a file of very many lines, and takes no more anchors than anybody needs', () => {
    const lines = Array.from({ length: 300_000 }, (_, index) => `line ${index}`)
    const after = lines.with(299_000, 'new').join('\n')
    expect(update(lines.join('\n'), '-line 299000', '+new')).toBe(after)
    const anchors = new Array<string>(21).fill('@@ line 1')
    expect(() => update('line 1\n', ...anchors, '+x')).toThrow(refused('INPUT_SCHEMA_INVALID', /20 @@ lines/))
  })

  it('takes the end of the file when told', () => {
    expect(update('x\ny\nx\n', '-x', '+z', '*** End of File')).toBe('x\ny\nz\n')
    expect(() => update('x\ny\n', '-x', '+z', '*** End of File')).toThrow(refused('NOT_FOUND', /at its end/))
  })

  it('keeps every byte of the lines that it does not remove', () => {
    const line = fc.tuple(
      fc.string({ unit: fc.constantFrom('a', 'b', ' ', 'é'), maxLength: 4 }),
      fc.constantFrom('\n', '\r\n'),
    )
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 20 }), fc.nat(), (lines, seed) => {
        const at = seed % lines.length
        const all = lines.map(([text, end], index) => `${index}:${text}${end}`)
        const wanted = `${at}:${lines[at]![0]}`
        const after = update(all.join(''), `-${wanted}`, '+new')
        expect(after).toBe(all.with(at, `new${lines[at]![1]}`).join(''))
      }),
    )
  })
})
