import { describe, expect, it } from 'vitest'
import { KnownValues } from './known-values.ts'
import { ShapeStage } from './redact-stream.ts'
import { FoldedStage, KeyBlockStage, KnownStage, type Stage } from './stages.ts'

const WORD = 'aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cD'
const BEGIN = '-----BEGIN PRIVATE KEY-----'
const END = '-----END PRIVATE KEY-----'
const KEY = '[redacted:private-key]'
const SECRET = '[redacted:secret]'
const known = KnownValues.of(['hunter2-and-more'])!.asLatin1()

/** A text is pushed, `null` is a flush, and the end comes last; each with what comes out. */
type Step = readonly [input: string | null, output: string]

function expectSteps(stage: Stage, steps: readonly Step[], end: string): void {
  const outputs = steps.map(([input]) => [input, input === null ? stage.flush() : stage.push(input)])
  expect(outputs).toEqual(steps)
  expect(stage.end()).toBe(end)
}

describe('the stage of private keys', () => {
  it.each<[string, readonly Step[], string]>([
    [
      'lets the beginning of a mark out, once',
      [
        ['a -----BEGIN ', 'a '],
        [null, '-----BEGIN '],
        [null, ''],
      ],
      '',
    ],
    [
      'continues behind what went out',
      [
        ['a --', 'a '],
        [null, '--'],
        ['-x', '-x'],
      ],
      '',
    ],
    [
      'finds a key that went out in part',
      [
        ['-----BEG', ''],
        [null, '-----BEG'],
        [`${BEGIN.slice(8)}\n${WORD}\n`, KEY],
      ],
      '',
    ],
    [
      'holds what may be a key',
      [
        [`${BEGIN}\nabc`, ''],
        [null, ''],
      ],
      `${BEGIN}\nabc`,
    ],
    [
      'lets it go when it is none',
      [
        [`${BEGIN}\nabc`, ''],
        [' ', ''],
        ['!', `${BEGIN}\nabc !`],
        [null, ''],
      ],
      '',
    ],
    [
      'holds all within a key',
      [
        [`a ${BEGIN}\n${WORD}\n`, `a ${KEY}`],
        [null, ''],
        [WORD, ''],
        [null, ''],
      ],
      '',
    ],
    [
      'continues behind a key',
      [
        [`${BEGIN}\n${WORD}\n${END} b`, `${KEY} b`],
        ['-', ''],
        [null, '-'],
      ],
      '',
    ],
    ['finds one key behind another', [[`${BEGIN}\n${WORD}\n${END}${BEGIN}\n${WORD}\n${END}`, KEY + KEY]], ''],
    ['finds a key behind a mark that begins none', [[`${BEGIN}!${BEGIN}\n${WORD}\n${END}`, `${BEGIN}!${KEY}`]], ''],
    [
      'finds a key whose dashes are those of another mark',
      [[`${BEGIN}BEGIN PRIVATE KEY-----\n${WORD}\n${END}`, `${BEGIN.slice(0, -5)}${KEY}`]],
      '',
    ],
  ])('%s', (_name, steps, end) => {
    expectSteps(new KeyBlockStage(), steps, end)
  })
})

describe('the stage of known values', () => {
  it.each<[string, readonly Step[], string]>([
    [
      'lets three characters of a value out',
      [
        ['x hun', 'x '],
        [null, 'hun'],
        ['ting', 'ting'],
      ],
      '',
    ],
    [
      'holds four characters of a value',
      [
        ['x hunt', 'x '],
        [null, ''],
        ['ing', 'hunting'],
      ],
      '',
    ],
    [
      'hides a value that went out in part',
      [
        ['x hun', 'x '],
        [null, 'hun'],
        ['ter2-and-more y', `${SECRET} y`],
      ],
      '',
    ],
    [
      'hides a value in pieces',
      [
        ['x hunter2', 'x '],
        ['-and-more', SECRET],
        [' y', ' y'],
      ],
      '',
    ],
    [
      'hides the end of a value that it begins with',
      [
        ['2-and-more', ''],
        [null, ''],
        [' y', `${SECRET} y`],
      ],
      '',
    ],
    [
      'shows few characters that it begins with',
      [
        ['mo', ''],
        [null, 'mo'],
        ['re', ''],
        [null, ''],
        [' y', 're y'],
      ],
      '',
    ],
    ['hides the beginning of a value that it ends with', [['x hunter2-', 'x ']], SECRET],
    ['shows a short beginning of a value that it ends with', [['x hunter', 'x ']], 'hunter'],
  ])('%s', (_name, steps, end) => {
    expectSteps(new KnownStage(known), steps, end)
  })
})

describe('the stage of values that are broken', () => {
  it.each<[string, readonly Step[], string]>([
    [
      'lets three characters of a value out',
      [
        ['x h\nun', 'x '],
        [null, 'h\nun'],
        ['ting!', 'ting!'],
      ],
      '',
    ],
    [
      'holds four characters of a value',
      [
        ['x hu\nnt', 'x '],
        [null, ''],
        ['ing!', 'hu\nnting!'],
      ],
      '',
    ],
    [
      'hides a value that went out in part',
      [
        ['x hun', 'x '],
        [null, 'hun'],
        ['ter2\n-and-more y', `${SECRET} y`],
      ],
      '',
    ],
    [
      'hides a value in pieces',
      [
        ['x hunter2\n', 'x '],
        ['-and-more', SECRET],
        [' y', ' y'],
      ],
      '',
    ],
    ['shows the beginning of a value that it ends with', [['x hun\nter2-', 'x ']], 'hun\nter2-'],
  ])('%s', (_name, steps, end) => {
    expectSteps(new FoldedStage(known.folded[0]!), steps, end)
  })
})

describe('the stage of shapes', () => {
  const token = `ghp_${WORD}`
  it.each<[string, readonly Step[], string]>([
    [
      'lets a word out',
      [
        ['a word', 'a '],
        [null, 'word'],
        [null, ''],
        [' b', ' '],
      ],
      'b',
    ],
    [
      'holds a token',
      [
        [`a ${token}`, 'a '],
        [null, ''],
        ['12 b', '[redacted:github-token] '],
      ],
      'b',
    ],
    [
      'hides a token that went out in part',
      [
        ['a gh', 'a '],
        [null, 'gh'],
        [`p_${WORD} b`, '[redacted:github-token] '],
      ],
      'b',
    ],
    [
      'holds what follows Bearer',
      [
        ['a Bearer ', 'a '],
        [null, ''],
        ['abc123def b', 'Bearer [redacted:bearer] '],
      ],
      'b',
    ],
    [
      'hides the rest of a token that is too long',
      [
        [`ghp_${WORD.repeat(300)}`, '[redacted:github-token]'],
        [WORD, ''],
        [' b', ' '],
      ],
      'b',
    ],
    [
      'holds a word of up to 8,192 characters',
      [
        ['x'.repeat(8_192), ''],
        ['x', 'x'.repeat(8_193)],
        [' b', ' '],
      ],
      'b',
    ],
  ])('%s', (_name, steps, end) => {
    expectSteps(new ShapeStage(), steps, end)
  })
})
