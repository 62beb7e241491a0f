// Words in quotes of every kind.
import { hostileCommand } from './hostile-pieces.mjs'

/** Pieces in quotes of any kind that hold marks of all other kinds; now and then one mark is lost. */
export function quoteTangle(random) {
  const content = () => random.times(random.below(4), () => random.pick(MARKS)).join('')
  const piece = () =>
    random.weighted([
      [3, () => `'${content().replaceAll("'", '')}'`],
      [3, () => `"${content().replace(/["`$\\]/g, '\\$&')}"`],
      [2, () => `$'${content().replace(/['\\]/g, '\\$&')}${random.pick(ANSI)}'`],
      [2, () => `\\${random.pick(["'", '"', '\\', '$', '`', '#', ';', '&', '|', ' ', '(', '{', '~', '*', '\n', 'n'])}`],
      [2, () => random.pick(['a', 'b.txt', '-n', 'x=1', '-', '#', '!', '^', ',', '%', '@', ':'])],
      [2, () => ' '],
      [1, () => `"a"'b'`],
      [1, () => `$"${content().replace(/["`$\\]/g, '\\$&')}"`],
    ])
  const line = `${random.pick(['ls ', 'cat ', 'grep ', 'git diff ', 'grep -e '])}${random.times(random.between(1, 6), piece).join('')}`
  const whole = random.chance(0.3) ? `${line}; ${random.pick(['ls', hostileCommand(random)])}` : line
  if (random.chance(0.6)) return whole
  const at = random.below(whole.length)
  return whole.slice(0, at) + whole.slice(at + 1)
}

const MARKS = [
  ...[
    "'",
    '"',
    '`',
    '$',
    '\\',
    '#',
    ';',
    '\n',
    ' ',
    '$(id)',
    '`id`',
    `\${x}`,
    'rm -rf /',
    '; id',
    '| id',
    '&& id',
    '\n#',
  ],
  ...["'; id; '", '"; id; "', '\\\n', '$((1))', '<<E', '>x', '*', '~', '!', '{a,b}', '=', '\t', '(', ')', "\\'", '\\"'],
]
const ANSI = [
  ...[
    '',
    '',
    "\\'",
    '\\x27',
    '\\047',
    '\\u0027',
    '\\x27; id; \\x27',
    '\\\\',
    '\\n',
    '\\cA',
    '\\e',
    '\\x',
    '\\u',
    '\\777',
  ],
  ...[
    '\\0',
    '\\"',
    '\\x{2e}',
    '\\x{',
    '\\x{0}',
    '\\x{27}',
    '\\c\\\\',
    '\\c?',
    '\\c@',
    '\\?',
    '\\E',
    '\\\n',
    '\\z',
    '\\u{41}',
    '\\U2f',
  ],
]
