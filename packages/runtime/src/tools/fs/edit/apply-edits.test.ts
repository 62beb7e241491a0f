import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cpuMs } from '../../../../../../test/support/cpu-time.ts'
import { applyEdits, type EditOptions } from './apply-edits.ts'
import type { Edit } from './edit-input.ts'
import { foldCharacters, stripEnd } from './lines.ts'

function edit(text: string, edits: Edit | readonly Edit[], options: Partial<EditOptions> = {}): string {
  return applyEdits(text, [edits].flat(), { path: 'a.txt', ...options }).text
}

const refused = (code: string, message: RegExp) =>
  expect.objectContaining({ code, message: expect.stringMatching(message) })

describe('the exact rung', () => {
  it('replaces a unique text and nothing else', () => {
    expect(edit('one two three', { oldText: 'two', newText: '2' })).toBe('one 2 three')
  })

  it('counts places that overlap when it looks for a unique one', () => {
    expect(() => edit('aaa', { oldText: 'aa', newText: 'b' })).toThrow(refused('CONFLICT', /2 times .* lines 1, 1/))
  })

  it('says how often and where a text stands that is not unique', () => {
    expect(() => edit('x\ny\nx\nx', { oldText: 'x', newText: 'z' })).toThrow(
      refused('CONFLICT', /^The old text stands 3 times in "a.txt", at lines 1, 3, 4\.$/),
    )
  })

  it('replaces all when asked', () => {
    expect(edit('x\ny\nx', { oldText: 'x', newText: 'zz', replaceAll: true })).toBe('zz\ny\nzz')
  })

  it('leaves every other byte of any file as it was', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', 'b', ' ', '\t', '\n', '\r\n', 'é', '😀', '\ufeff', '“'),
      maxLength: 60,
    })
    fc.assert(
      fc.property(
        text,
        text.filter((own) => own !== ''),
        text,
        text,
        (head, oldText, tail, newText) => {
          const file = head + oldText + tail
          fc.pre(file.indexOf(oldText) === head.length && file.indexOf(oldText, head.length + 1) === -1)
          // Line ends of the new text follow the file; here only what is around is looked at.
          fc.pre(oldText !== newText && !oldText.startsWith('\n') && !newText.includes('\n'))
          const { text: after, forgiven } = applyEdits(file, [{ oldText, newText }], { path: 'a' })
          expect(forgiven).toEqual([])
          expect(after).toBe(head + newText + tail)
        },
      ),
      { numRuns: 500 },
    )
  })
})

describe('the forgiving rungs', () => {
  it('do not mind blanks at line ends, and keep those of the file outside the place', () => {
    expect(edit('a  \nb \nc', { oldText: 'a\nb', newText: 'x' })).toBe('x \nc')
    expect(edit('a\nb\nc', { oldText: 'a \nb  ', newText: 'x' })).toBe('x\nc')
  })

  it('take blanks at the end of the old text away only where a line ends', () => {
    expect(() => edit('ab', { oldText: 'a ', newText: 'x' })).toThrow(refused('NOT_FOUND', /not in/))
  })

  it('do not mind which quotes, dashes and spaces are meant', () => {
    expect(edit('say “hi” – now\u00a0or never', { oldText: `"hi" - now or`, newText: 'x' })).toBe('say x never')
  })

  it('forgive indentation only when asked, and then indent the new text like the file', () => {
    const file = 'class A {\n\tgo() {\n\t\treturn 1\n\t}\n}\n'
    const own = { oldText: '  go() {\n    return 1\n  }', newText: '  go() {\n    return 2\n      + 3\n  }' }
    expect(() => edit(file, own)).toThrow(refused('NOT_FOUND', /not in/))
    expect(edit(file, own, { indentation: true })).toBe('class A {\n\tgo() {\n\t\treturn 2\n\t\t  + 3\n\t}\n}\n')
  })

  it('do not take a place whose lines are indented differently among themselves', () => {
    const own = { oldText: 'if x:\n  a\n  b', newText: 'y' }
    expect(() => edit('if x:\n    a\n  b', own, { indentation: true })).toThrow(refused('NOT_FOUND', /not in/))
  })

  it('replace every place in its own indentation', () => {
    const own = { oldText: 'if a:\n  b', newText: 'if a:\n  c', replaceAll: true }
    const file = '\tif a:\n\t\tb\n    if a:\n      b\n'
    expect(edit(file, own, { indentation: true })).toBe('\tif a:\n\t\tc\n    if a:\n      c\n')
  })

  it('never map to a span that is not the old text but for what is forgiven', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', 'b', ' ', '\n', '\r\n', '“', '"', '–', '-', '\u00a0', 'é😀'),
      maxLength: 40,
    })
    const folded = (own: string) =>
      own
        .split('\n')
        .map((line) => stripEnd(foldCharacters(line)))
        .join('\n')
    let tried = 0
    fc.assert(
      fc.property(
        text,
        text.filter((own) => own.trim() !== ''),
        (file, oldText) => {
          const { replacements } = tryEdits(file, { oldText, newText: 'NEW', replaceAll: true })
          for (const { start, end } of replacements) {
            tried++
            const span = file.slice(start, end)
            const own = oldText.startsWith('\n') && span.startsWith('\r') ? `\r${oldText}` : oldText
            expect(folded(span)).toBe(folded(own))
          }
        },
      ),
      { numRuns: 3_000 },
    )
    expect(tried).toBeGreaterThan(100)
  })
})

describe('line ends', () => {
  it('of a Windows file stay', () => {
    expect(edit('a\r\nb\r\nc\r\n', { oldText: 'a\nb\n', newText: 'x\ny\n' })).toBe('x\r\ny\r\nc\r\n')
    expect(edit('a\r\nb\r\n', { oldText: 'a', newText: 'x\ny' })).toBe('x\r\ny\r\nb\r\n')
    expect(edit('a\r\nb', { oldText: 'b', newText: 'x\ny' })).toBe('a\r\nx\r\ny')
  })

  it('of a mixed file follow the place', () => {
    expect(edit('a\r\nb\nc\nd\n', { oldText: 'c', newText: 'x\ny' })).toBe('a\r\nb\nx\ny\nd\n')
  })

  it('are never cut in half', () => {
    expect(edit('a\r\nb', { oldText: '\nb', newText: '\nx' })).toBe('a\r\nx')
    expect(edit('a\r\nb', { oldText: '\nb', newText: 'x' })).toBe('ax')
  })

  it('change when the old text names them', () => {
    expect(edit('a\r\nb', { oldText: 'a\r\n', newText: 'a\n' })).toBe('a\nb')
  })

  it('of a plain file stay plain when the old text was thought to be Windows text', () => {
    expect(edit('a\nb\nc', { oldText: 'a\r\nb', newText: 'x\r\ny' })).toBe('x\ny\nc')
  })
})

describe('several edits', () => {
  it('are matched against the file as it was', () => {
    const edits = [
      { oldText: 'a', newText: 'b' },
      { oldText: 'b', newText: 'a' },
    ]
    expect(edit('a b', edits)).toBe('b a')
  })

  it('may touch but not overlap', () => {
    expect(
      edit('abcd', [
        { oldText: 'cd', newText: '2' },
        { oldText: 'ab', newText: '1' },
      ]),
    ).toBe('12')
    expect(() =>
      edit('abcd', [
        { oldText: 'abc', newText: '1' },
        { oldText: 'cd', newText: '2' },
      ]),
    ).toThrow(refused('CONFLICT', /^edits\[0\] and edits\[1\] overlap at line 1/))
  })

  it('happen all or not at all', () => {
    const edits = [
      { oldText: 'a', newText: 'x' },
      { oldText: 'no', newText: 'y' },
    ]
    expect(() => edit('abcd', edits)).toThrow(refused('NOT_FOUND', /^The old text of edits\[1\] is not in/))
  })
})

describe('refusals', () => {
  it('name the nearest places and what differs there', () => {
    const file = 'function one() {\n  return 1\n}\n\nfunction two() {\n  return 2\n}\n'
    expect(() => edit(file, { oldText: 'function two() {\n  return 3\n}', newText: 'x' })).toThrow(
      refused(
        'NOT_FOUND',
        /near line 5, where line 6 differs: the file has " {2}return 2", the old text has " {2}return 3"/,
      ),
    )
    expect(() => edit('const answer = 42\n', { oldText: 'const anwser = 42', newText: 'x' })).toThrow(
      refused('NOT_FOUND', /near line 1, where line 1 differs/),
    )
    expect(() => edit('abc', { oldText: 'zzzz zzzz', newText: 'x' })).toThrow(
      refused('NOT_FOUND', /Nothing in the file/),
    )
  })

  it('come when nothing would change, or far too much', () => {
    expect(() => edit('a\n', { oldText: 'a  ', newText: 'a' })).toThrow(
      refused('INPUT_SCHEMA_INVALID', /stay as it is/),
    )
    const grows = { oldText: 'a', newText: 'x'.repeat(200_000), replaceAll: true }
    expect(() => edit('a'.repeat(100), grows)).toThrow(
      refused('FILE_TOO_LARGE', /20000000 bytes, the limit is 10485760/),
    )
    const many = { oldText: 'a', newText: 'b', replaceAll: true }
    expect(() => edit('a'.repeat(100_002), many)).toThrow(refused('INPUT_SCHEMA_INVALID', /more than 100000 times/))
  })

  it('take no more time than the file is long, also where it is all alike', () => {
    const oldText = `${'a'.repeat(10_000)}b${'a'.repeat(10_000)}`
    expect(() => applyEdits('a'.repeat(4_900_000), [{ oldText, newText: 'x' }], { path: 'a' })).toThrow(/not/)
  })

  it('are quick, however hostile file and old text are', () => {
    const took = cpuMs(() => {
      expect(() => edit('a'.repeat(2_000_000), { oldText: `${'a'.repeat(100_000)}b`, newText: 'x' })).toThrow()
      expect(() => edit(' '.repeat(2_000_000), { oldText: `${' '.repeat(1_000)}b`, newText: 'x' })).toThrow()
      expect(() =>
        edit('}\n'.repeat(500_000), { oldText: '}\n'.repeat(5_000), newText: 'x' }, { indentation: true }),
      ).toThrow()
      expect(() =>
        edit('abc\n'.repeat(300_000), { oldText: `${'abc\n'.repeat(5_000)}x`, newText: 'x' }, { indentation: true }),
      ).toThrow()
    })
    expect(took).toBeLessThan(20_000)
  })
})

function tryEdits(file: string, own: Edit) {
  try {
    return applyEdits(file, [own], { path: 'a' })
  } catch {
    return { replacements: [] }
  }
}
