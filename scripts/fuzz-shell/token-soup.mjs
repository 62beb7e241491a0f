// Lines that are hardly lines: the marks of the shell in any order, and any characters at all.

const TOKENS = [
  ...[
    'ls',
    'cat',
    'grep',
    'git status',
    'git diff',
    'ls ',
    'cat a.txt',
    'grep x f.txt',
    ' ',
    ' ',
    ' ',
    '\n',
    '\n',
    ';',
  ],
  ...[
    "'",
    '"',
    '`',
    '\\',
    '$',
    '$(',
    '$((',
    '))',
    ')',
    '(',
    '{',
    '}',
    '{ ',
    '; }',
    '<',
    '>',
    '<<',
    '<<E',
    '<<-E',
    "<<'E'",
  ],
  ...[
    '\nE\n',
    '\nE',
    'E',
    '|',
    '||',
    '&',
    '&&',
    ';;',
    '!',
    '#',
    ' # ',
    '${',
    '${x',
    ':-',
    '}',
    '[[ ',
    ' ]]',
    '[',
    ']',
    '~',
  ],
  ...[
    '*',
    '?',
    'rm -rf /',
    'id',
    'touch pwned',
    '> pwned',
    '>/dev/null',
    '2>&1',
    '/etc/passwd',
    '..',
    '/',
    '=',
    'x=',
    '$x',
  ],
  ...[
    'if ',
    '; then ',
    '; fi',
    'for x in ',
    '; do ',
    '; done',
    'case x in ',
    ') ',
    ';; esac',
    'function f ',
    'f() ',
    'time ',
  ],
  ...[
    "$'",
    '$"',
    '\\x72',
    '\\\n',
    '\r',
    '\t',
    '\0',
    '\u00a0',
    '\u200b',
    '\u202e',
    'é',
    '；',
    '｜',
    '\u0435',
    '😀',
    '\ud800',
  ],
  ...[
    '<(',
    '>(',
    '<<<',
    '>|',
    '&>',
    '<&',
    '>&',
    '-',
    '--',
    '-exec',
    '--output=x',
    '{a,b}',
    '{1..3}',
    '@(',
    '!(',
    'coproc ',
  ],
]

/** Some of it. */
export function tokenSoup(random) {
  if (random.chance(0.1)) return anyCharacters(random)
  const start = random.pick(['ls ', 'cat ', 'grep x ', 'git diff ', '', 'ls; ', 'cat <<E\n'])
  return start + random.times(random.between(1, 12), () => random.pick(TOKENS)).join('')
}

/** A token, to be put somewhere. */
export function anyToken(random) {
  return random.pick(TOKENS)
}

function anyCharacters(random) {
  const most = random.pick([0x7f, 0x7f, 0xff, 0x2100, 0xffff])
  const text = random.times(random.between(1, 30), () => String.fromCharCode(random.between(0, most))).join('')
  return random.pick(['', 'ls ', 'cat ']) + text
}
