// Lines where it is hard to see what is data and what is run: quotes, comments and here-documents around commands.
import { braceTangle } from './brace-tangle.mjs'
import { hereDocumentTangle } from './here-document-tangle.mjs'
import { hostileCommand } from './hostile-pieces.mjs'
import { plainCommand } from './plain-commands.mjs'
import { quoteTangle } from './quote-tangle.mjs'

/** One of them; about half of them run nothing but what is allowed. */
export function tangle(random) {
  return random.weighted([
    [4, () => quoteTangle(random)],
    [4, () => hereDocumentTangle(random)],
    [2, () => commentTangle(random)],
    [2, () => braceTangle(random)],
    [1, () => testTangle(random)],
  ])
}

/** What may or may not be a comment. */
function commentTangle(random) {
  const mark = random.pick([
    ' #',
    '#',
    ';#',
    '\n#',
    '\t#',
    ' \\#',
    " '#'",
    ' "#"',
    '&&#',
    '|#',
    '(#',
    '{ #',
    " ''#",
    ' \\\n#',
    ')#',
    ' a#',
    '=#',
    '$#',
    `\${#x}`,
  ])
  const text = random.pick([
    "it's",
    '"',
    '`',
    '$(',
    '\\',
    ' x',
    hostileCommand(random),
    '\\\\',
    'EOF',
    '(',
    '{',
    '; id',
    `'`,
  ])
  const rest = random.pick([
    '',
    '\n',
    '\nls',
    `\n${hostileCommand(random)}`,
    '\n)',
    '\n}',
    `'\nls`,
    '"\nls',
    '\n\nls # x',
  ])
  return `${random.pick(['', '(', '{ ', 'ls;'])}${plainCommand(random)}${mark}${text}${rest}`
}

/** Tests, patterns and redirections that take words of their own. */
function testTangle(random) {
  const word = random.pick([
    "'$(id)'",
    '"a b"',
    '$(id)',
    '`id`',
    'a*',
    '(a|b)',
    '"$(id)"',
    '-f',
    '!',
    ')',
    '$x',
    '\\$(id)',
    '<(id)',
    'a[$(id)]',
  ])
  return random.pick([
    () => `[[ a == ${word} ]] && ls`,
    () => `[[ a =~ ${word} ]] && ls`,
    () => `[[ -n ${word} || a < b ]] && ls`,
    () => `[[ -v ${word} ]] || ls`,
    () => `case ${word} in a) ls;; esac`,
    () => `case a in ${word}) ls;; esac`,
    () => `case a in (${word}|b) ls;; *) git status;; esac`,
    () => `for x in ${word}; do ls; done`,
    () => `ls 2>&1 ${word}`,
    () =>
      `ls ${random.pick(['2>&1-', '>&-', '<&-', '3>&1', '2>&3', '<&0', '>&2', '0<&1', '{x}>&1', '>&x', '1>&a', '2>&', '<&$x'])}`,
    () => `cat <<<${word}`,
    () => `cat < ${word}`,
    () => `if [[ a ]]; then ls; else ${hostileCommand(random)}; fi`,
    () => `((1 > 2)) || ls`,
    () => `((x = 1)) && ls`,
    () => `((a[${word}])) || ls`,
    () => `f() { ls; }; f`,
    () => `time ls; time -p ls; ! ls; ! ! ls`,
    () => `until ls; do cat a.txt; done`,
  ])()
}
