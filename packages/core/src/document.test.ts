import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkConfig } from '../../config/src/check-config.ts'
import { parseJson5, parseYaml } from './document.ts'
import { ToolError } from './errors.ts'

const PIECES = [
  'a',
  'tools',
  'policy',
  'allow',
  'limits',
  ': ',
  ':',
  '- ',
  '? ',
  '\n',
  '\n  ',
  '\t',
  '[',
  ']',
  '{',
  '}',
  ',',
  '"',
  "'",
  '&x ',
  '*x',
  '!t ',
  '|',
  '>',
  '#',
  '//',
  '/*',
  '*/',
  '---',
  '...',
  '%YAML 1.1',
  '1',
  'null',
  '~',
  '<<',
  '__proto__',
  '\\',
  '\0',
]

describe('any text at all', () => {
  it.each([
    ['YAML', parseYaml],
    ['JSON5', parseJson5],
  ])('as %s is a checked config or one typed error', (_, parse) => {
    const text = fc.array(fc.constantFrom(...PIECES), { maxLength: 40 }).map((pieces) => pieces.join(''))
    fc.assert(
      fc.property(text, (written) => {
        try {
          checkConfig({ file: '/tool-hub', label: 'tool-hub', ...parse(written, 'tool-hub') })
        } catch (error) {
          if (!ToolError.is(error)) throw error
          expect(error.code).toBe('CONFIG_INVALID')
          expect(error.message.startsWith('tool-hub')).toBe(true)
        }
      }),
      { numRuns: 1_000 },
    )
  })
})

describe('parseYaml', () => {
  it('survives keys that are nothing', () => {
    expect(() => parseYaml('? \n? \n', 'x')).toThrow(ToolError)
  })

  it('is YAML 1.2: no is a text, 010 is ten, a date is a text', () => {
    expect(parseYaml('a: no\nb: 010\nc: 2024-01-01\nd: 1_000\n', 'x').value).toEqual({
      a: 'no',
      b: 10,
      c: '2024-01-01',
      d: '1_000',
    })
  })
})
