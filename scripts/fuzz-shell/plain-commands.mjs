// Commands that the rules allow, in the ways people and agents write them.
import { spell } from './spell.mjs'

const FILES = [
  'README.md',
  'a.txt',
  'main.go',
  'src/a.go',
  './b.txt',
  'src',
  '.',
  '/ws/repo/f.txt',
  'missing.txt',
  "it's.txt",
]
const PATTERNS = [
  'foo',
  'func main',
  '$(whoami)',
  'a|b',
  '^+',
  'rm -rf /',
  '#',
  '`id`',
  'TODO: x',
  '/api/v1',
  '*',
  '!x',
  '~',
  '{a,b}',
  '',
]
const NAMED = [
  'single quoted.txt',
  'docs/a b.md',
  'rm -rf notes.txt',
  '$x',
  'a;b',
  'a&b',
  'a#b',
  '文档.md',
  'a\nb',
  '>x',
  '(x)',
]

const ARGV = [
  (random) => ['ls', ...some(random, ['-la', '-R', '-1', '-a', '--color=never'], 2), ...some(random, FILES, 2)],
  (random) => ['cat', ...some(random, ['-n', '-A', '--'], 1), ...few(random, FILES, 3)],
  (random) => ['cat', random.pick(NAMED)],
  (random) => [
    'grep',
    ...some(random, ['-r', '-n', '-i', '-F', '-v', '-E', '--color=never'], 2),
    random.pick(PATTERNS),
    ...few(random, FILES, 2),
  ],
  (random) => ['grep', '-e', random.pick(PATTERNS), '-e', random.pick(PATTERNS), random.pick(FILES)],
  (random) => ['grep', '--include=*.go', '-r', random.pick(PATTERNS), '.'],
  () => ['git', 'status'],
  (random) => [
    'git',
    'diff',
    ...some(random, ['HEAD', 'HEAD~1', '--cached', '--stat', '-U3', '--name-only'], 2),
    ...some(random, ['--', 'src'], 1),
  ],
  (random) => ['go', 'build', ...some(random, ['-race', '-v', './...', './cmd'], 2)],
  (random) => [
    'go',
    'test',
    ...some(random, ['-v', '-count=1', '-json', './...'], 2),
    ...some(random, ['-run=TestA|TestB'], 1),
  ],
]

/** The words of a command that is allowed. */
export function plainArgv(random) {
  return random.pick(ARGV)(random)
}

/** A command that is allowed, spelt at random, with what may stand around its words. */
export function plainCommand(random) {
  const words = plainArgv(random).map((word, index) =>
    index === 0 && random.chance(0.8) ? word : spellKindly(random, word),
  )
  const parts = [...words]
  for (let count = random.chance(0.25) ? random.between(1, 2) : 0; count > 0; count -= 1) {
    parts.splice(random.below(10) ? parts.length : 0, 0, plainRedirect(random))
  }
  return parts.join(blank(random)) === '' ? 'ls' : parts.reduce((line, part) => line + blank(random) + part)
}

function spellKindly(random, word) {
  return random.chance(0.6) && /^[\w./-]+$/.test(word) ? word : spell(random, word)
}

function plainRedirect(random) {
  return random.pick([
    '2>/dev/null',
    '2>&1',
    '>/dev/null',
    '>/dev/null 2>&1',
    '< input.txt',
    '&>/dev/null',
    '2> /dev/null',
    '1>&2',
    "<<< 'text'",
    '<<<word',
  ])
}

/** Blanks between words. */
export function blank(random) {
  return random.weighted([
    [20, () => ' '],
    [1, () => '  '],
    [1, () => '\t'],
    [1, () => ' \\\n '],
    [1, () => ' \t '],
  ])
}

function some(random, items, most) {
  return random.times(random.below(most + 1), () => random.pick(items))
}

function few(random, items, most) {
  return random.times(random.between(1, most), () => random.pick(items))
}
