import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Rule } from '../../../core/src/principal.ts'
import { readArgv, readCommandLine } from '../../../shell/src/reader/read-command-line.ts'
import type { CommandReading } from '../../../shell/src/reading.ts'
import { compilePolicy } from '../compile-policy.ts'
import { STRICTNESS } from '../question.ts'
import { decide } from './decide.ts'

const PLACE = { cwd: '/ws/repo', roots: ['/ws/repo'] }
const AGREES = () => ({ hasError: false, names: [] })
const RULES: Rule[] = [
  { allow: 'exec', on: ['ls *', 'cat *', 'git status'] },
  { deny: 'exec', on: ['rm -rf *', 'sudo *', 'chmod 777 *'] },
]
const policy = compilePolicy({
  owner: RULES.map((rule, line) => ({ rule, source: { file: 'f', line }, base: '/ws/repo' })),
})

function judge(command: string, reading: CommandReading = readCommandLine(command, PLACE, AGREES)) {
  const { effect } = decide(policy, {
    tool: 'x',
    names: ['x'],
    groups: [],
    capabilities: ['exec'],
    targets: [{ capability: 'exec', value: command }],
    caller: 'direct',
    tainted: false,
    readings: new Map([[command, reading]]),
  })
  return effect
}

const DENIED = [
  ['rm', '-rf', '/'],
  ['sudo', 'id'],
  ['chmod', '777', 'x'],
]
const ALLOWED = ['ls', 'ls -la', 'cat a b', 'git status', "cat 'x y'", 'ls 2>/dev/null', 'cat < a']
const PIECES = [
  ...['ls', 'cat a', 'rm -rf /', 'sudo', 'x=1', 'if', 'then', 'fi', 'do', 'done', 'for', 'case', 'esac', 'in', 'time'],
  ...['$(', ')', '`', '"', "'", '\\', '{', '}', '(', ';', '&&', '||', '|', '&', '\n', ' ', '<<E', 'E', '<', '>', '$x'],
  ...[
    '<(',
    '((',
    '))',
    '[[',
    ']]',
    '#',
    '*',
    '~',
    '!',
    '=',
    '\0',
    '\u202e',
    '\ud800',
    "$'",
    '$"',
    '<<<',
    'eval',
    'sh -c',
  ],
]

const oneLetter = (quote: (letter: string) => string) => (word: string) => `${quote(word[0]!)}${word.slice(1)}`
const QUOTES: ((word: string) => string)[] = [
  (word) => word,
  (word) => `'${word}'`,
  (word) => `"${word}"`,
  (word) => `$'${word}'`,
  (word) => `''${word}""`,
  (word) => `${word[0]}''${word.slice(1)}`,
  (word) => `${word[0]}\\\n${word.slice(1)}`,
  oneLetter((letter) => `\\${letter}`),
  oneLetter((letter) => `'${letter}'`),
  oneLetter((letter) => `$'\\x${letter.charCodeAt(0).toString(16)}'`),
]

const PLACES: ((command: string) => string)[] = [
  (command) => command,
  (command) => `ls; ${command}`,
  (command) => `ls | ${command}`,
  (command) => `ls && ${command} &`,
  (command) => `ls $(${command})`,
  (command) => `ls "$(${command})"`,
  (command) => `cat <(${command})`,
  (command) => `if ls; then ${command}; fi`,
  (command) => `f() { ${command}; }`,
  (command) => `for x in a; do ${command}; done`,
  (command) => `case a in a) ${command};; esac`,
  (command) => `cat <<EOF\n$(${command})\nEOF`,
  (command) => `X=1 ${command} > out`,
  (command) => `env -i nice -n 5 ${command}`,
  (command) => `timeout 5 ${command}`,
  (command) => `time ${command}`,
]

describe('any text', () => {
  const anything = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.array(fc.constantFrom(...PIECES), { maxLength: 30 }).map((pieces) => pieces.join('')),
    fc.array(fc.constantFrom(...PIECES), { maxLength: 30 }).map((pieces) => pieces.join(' ')),
  )

  it('gets a verdict', () => {
    fc.assert(
      fc.property(anything, (text) => {
        expect(['allow', 'ask', 'deny']).toContain(judge(text))
      }),
      { numRuns: 600 },
    )
  })

  it('gets none that is looser by an allowed command beside it', () => {
    fc.assert(
      fc.property(
        anything,
        fc.constantFrom(...ALLOWED),
        fc.constantFrom('; ', ' && ', ' | ', '\n'),
        (text, own, sign) => {
          fc.pre(readCommandLine(text, PLACE).parts.some(({ words, doubts }) => words.length + doubts.length > 0))
          const before = judge(text)
          // A text that does not end what it begins swallows what follows; the other way round it stays what it is.
          expect(STRICTNESS[judge(`${own}${sign}${text}`)]).toBeGreaterThanOrEqual(before === 'deny' ? 1 : 0)
          if (before !== 'allow') expect(judge(`${own}${sign}${text}`)).not.toBe('allow')
        },
      ),
      { numRuns: 250 },
    )
  })

  it('as words without a shell gets a verdict too', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(anything, fc.constantFrom('sh', '-c', 'env', 'xargs', 'find', '-exec')), { maxLength: 6 }),
        (argv) => {
          expect(['allow', 'ask', 'deny']).toContain(judge('x', readArgv(argv, PLACE, AGREES)))
        },
      ),
      { numRuns: 250 },
    )
  })
})

describe('a denied command', () => {
  const quoted = fc
    .constantFrom(...DENIED)
    .chain((words) => fc.tuple(...words.map((word) => fc.constantFrom(...QUOTES).map((quote) => quote(word)))))
    .map((words) => words.join(' '))

  it('is denied however it is quoted, and wherever it stands', () => {
    fc.assert(
      fc.property(quoted, fc.constantFrom(...PLACES), fc.constantFrom(...PLACES), (command, inner, outer) => {
        expect(judge(outer(inner(command)))).not.toBe('allow')
        expect(judge(inner(command))).toBe('deny')
      }),
      { numRuns: 300 },
    )
  })

  it('is denied in a text for a shell', () => {
    fc.assert(
      fc.property(quoted, fc.constantFrom('sh -c', 'bash -lc', 'eval', 'env -S'), (command, shell) => {
        expect(judge(`${shell} '${command.replaceAll("'", "'\\''")}'`)).toBe('deny')
      }),
      { numRuns: 100 },
    )
  })
})

it('an allowed command is allowed in every list', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...ALLOWED), { minLength: 1, maxLength: 6 }),
      fc.constantFrom('; ', ' && ', ' || ', ' | ', '\n'),
      (commands, sign) => {
        expect(judge(commands.join(sign))).toBe('allow')
      },
    ),
    { numRuns: 100 },
  )
})
