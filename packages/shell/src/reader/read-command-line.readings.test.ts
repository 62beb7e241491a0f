import { describe, expect, it } from 'vitest'
import type { CommandPart, Doubt } from '../reading.ts'
import { readCommandLine } from './read-command-line.ts'

const PLACE = { cwd: '/ws/repo', roots: ['/ws/repo'], home: '/home/ann' }
const AGREES = () => ({ hasError: false, names: [] })

const read = (text: string) => readCommandLine(text, PLACE, AGREES)
const partsOf = (text: string): readonly CommandPart[] => read(text).parts
const wordsOf = (text: string) => partsOf(text).map(({ words }) => words)
const findPart = (text: string, name: string) => partsOf(text).find(({ words }) => words[0] === name)

function doubtsOf(text: string): readonly Doubt[] {
  const { parts, doubts } = read(text)
  return [...doubts, ...parts.flatMap((part) => part.doubts)]
}

describe('every simple command is found', () => {
  it.each([
    'id; ls',
    'ls && id',
    'ls || id',
    'ls | id',
    'ls |& id',
    'ls & id',
    'ls\nid',
    'ls # x\nid',
    '(id)',
    '{ id; }',
    '! id',
    'time -p id',
    'coproc id',
    'coproc X { id; }',
    'if id; then ls; fi',
    'if ls; then id; fi',
    'if ls; then ls; elif id; then ls; fi',
    'if ls; then ls; else id; fi',
    'while id; do ls; done',
    'until ls; do id; done',
    'for x in a; do id; done',
    'for x in $(id); do ls; done',
    'for ((i=$(id);;)); do ls; done',
    'select x in a; do id; done',
    'case a in a) id;; esac',
    'case $(id) in a) ls;; esac',
    'case a in $(id)) ls;; esac',
    'f() { id; }',
    'function f { id; }',
    'f() ( id ) > x',
    'ls $(id)',
    'ls "a$(id)b"',
    'ls `id`',
    'ls `ls \\`id\\``',
    'ls $(ls $(id))',
    `ls \${x:-$(id)}`,
    `ls "\${x:-\`id\`}"`,
    `ls \${x/a/$(id)}`,
    `ls \${x:$(id)}`,
    `ls \${a[$(id)]}`,
    'ls $(( $(id) + 1 ))',
    'ls {a,$(id)}',
    'ls <(id)',
    'ls >(id)',
    'ls 2> $(id)',
    'ls < $(id)',
    'cat <<EOF\n$(id)\nEOF',
    'cat <<EOF\n`id`\nEOF',
    `cat <<-EOF\n\t\${x:-$(id)}\n\tEOF`,
    'cat <<EOF; id\nx\nEOF',
    'cat <<< "$(id)"',
    'x=$(id)',
    'x=$(id) ls',
    'x=(a $(id))',
    'a[$(id)]=1',
    'export X=$(id)',
    '[[ -n $(id) ]]',
    '[ -n "$(id)" ]',
    '(( $(id) ))',
    '>x id',
    '<<<x id',
    'X=1 id',
    "let 'a[$(id)]=1'",
    "test -v 'a[$(id)]'",
    "unset 'a[`id`]'",
    'bash <<EOF\nid\nEOF',
    "bash <<< 'id'",
    "alias x='id'",
    "compgen -W '$(id)'",
  ])('%j', (text) => {
    expect(findPart(text, 'id')).toBeDefined()
  })

  it('and what only looks like one is not', () => {
    for (const text of ["ls 'x; id'", 'ls "a && id"', 'ls \\; id', 'ls # id', "cat <<'EOF'\n$(id)\nEOF", "ls '$(id)'"])
      expect(findPart(text, 'id'), text).toBeUndefined()
  })

  it('a line without a command is one part without words', () => {
    for (const text of ['', ' ', '# ls', '\n\n']) expect(wordsOf(text), text).toEqual([[]])
  })
})

describe('words are what the program gets', () => {
  it.each<[string, (string | undefined)[]]>([
    ["r''m -rf /", ['rm', '-rf', '/']],
    ['r\\m', ['rm']],
    ['"r"\'m\'', ['rm']],
    ["$'\\x72m'", ['rm']],
    ["$'rm\\0x'", ['rm']],
    ['rm \\\n -rf', ['rm', '-rf']],
    ['r\\\nm', ['rm']],
    ['cat "a b" c\\ d', ['cat', 'a b', 'c d']],
    ['cat "\\$x"', ['cat', '$x']],
    ['{rm,-rf,/}', ['rm', '-rf', '/']],
    ['ls {a,b}{1..3}', ['ls', 'a1', 'a2', 'a3', 'b1', 'b2', 'b3']],
    ['ls {01..03} {c..a}', ['ls', '01', '02', '03', 'c', 'b', 'a']],
    ["ls {'a b',c\\,d}", ['ls', 'a b', 'c,d']],
    ['ls {a} a{b "{a,b}"', ['ls', '{a}', 'a{b', '{a,b}']],
    ['ls $x', ['ls', undefined]],
    ['ls "a$x"', ['ls', undefined]],
    ['ls {1..10000}', ['ls', undefined]],
    ['ls {1..1000000000}', ['ls', undefined]],
    ['ls {1..3..99999999999999999999}', ['ls', undefined]],
    ['ls *.md', ['ls', undefined]],
    ['export A=b', ['export', 'A=b']],
    ['ls {a,}b {,}', ['ls', 'ab', 'b']],
    ['ls @{1}..@{u} {}', ['ls', '@{1}..@{u}', '{}']],
    ["{'rm',-rf,/}", ['rm', '-rf', '/']],
  ])('%j', (text, words) => {
    expect(wordsOf(text)[0]).toEqual(words)
  })
})

describe('a part says where it stands', () => {
  it.each([
    ['ls a $(id)', 'inside `$(…)` of the second argument', ''],
    ['ls `id`', 'inside backticks of the first argument', ''],
    ['$(id) x', 'inside `$(…)` of the command name', ''],
    ['cat <(id)', 'inside `<(…)` of the first argument', ''],
    ['cat <<EOF\n$(id)\nEOF', 'inside `$(…)` of the here-document', ''],
    ['X=$(id) ls', 'inside `$(…)` of the assignment `X`', ''],
    ['f() { id; }', 'in the function `f`', ''],
    ['ls > $(id)', 'inside `$(…)` of a redirection', ''],
    ['env nice id', 'behind `nice`, behind `env`', 'env nice'],
    ["sh -c 'ls $(id)'", 'inside `$(…)` of the first argument, in the text of `sh`', 'sh'],
    ['time id', undefined, 'time'],
    ['ls; id', undefined, ''],
  ])('%j: %s', (text, where, through) => {
    const part = findPart(text, 'id')!
    expect(part.where).toBe(where)
    expect(part.through.join(' ')).toBe(through)
    expect(part.text).toBe('id')
  })
})

describe('nothing is doubtful about', () => {
  it.each([
    'ls -la src',
    'cat a 2>&1 >/dev/null',
    'cat < a',
    'cat <<EOF\nplain\nEOF',
    'cat src/*.ts',
    'ls *.md',
    'grep x -- *',
    'wc -l ./*',
    'wc -l -- *',
    'cat ./a/../b /ws/repo/c',
    'cat "new\nline"',
    'cat 文档.md',
    'for f in a b; do ls; done',
  ])('%j', (text) => {
    expect(doubtsOf(text)).toEqual([])
  })
})

describe('an allow does not reach', () => {
  it.each([
    ['X=1 ls', 'it is given X'],
    ['X=1', 'it sets X'],
    ['ls > out', 'it writes to out'],
    ['ls >| out', 'it writes to out'],
    ['ls &>> out', 'it writes to out'],
    ['ls >& out', 'it writes to out'],
    ['ls <> out', 'it writes to out'],
    ['ls {fd}> /dev/null', 'it sets fd'],
    ['{ ls; } > out', 'it writes to out'],
    ['ls > /dev/stdout', 'it writes to /dev/stdout'],
    ['ls &', 'in the background'],
    ['coproc ls', 'in the background'],
    ['cat /etc/passwd', 'outside'],
    ['cat ../x', 'outside'],
    ['cat src/../../x', 'outside'],
    ['cat /ws/repository', 'outside'],
    ['cat < /etc/passwd', 'outside'],
    ['{ cat; } < /etc/passwd', 'outside'],
    ['cat ~/x', 'outside'],
    ['cat ~root/x', 'is not known'],
    ['cat /etc/*', 'outside'],
    ['cat src/*/../../../x', 'outside'],
    ['cat .e*', 'only known when it runs'],
    ['echo /etc/*', 'outside'],
    ['grep -e -- *', 'only known when it runs'],
    ['wc -l *', 'only known when it runs'],
    ['uniq src/*', 'is the file that uniq writes'],
    ['grep x *', 'only known when it runs'],
    ['cat "$X"', 'only known when it runs'],
    ['cat < $X', 'only known when it runs'],
    ['cat <<EOF\n$X\nEOF', 'only known when it runs'],
    ['/bin/ls', 'called by a path'],
    ['/usr/local/bin/ls', 'called by a path'],
    ['ls() { cat a; }; ls', 'a function of the line has its name'],
    ['for PATH in /tmp; do ls; done', 'the loop sets PATH'],
    ['env X=1 ls', 'it sets X'],
    ['set -x', 'changes what later commands do'],
  ])('%j: %s', (text, reason) => {
    expect(doubtsOf(text)).toContainEqual(
      expect.objectContaining({ kind: 'reach', reason: expect.stringContaining(reason) }),
    )
  })

  it('a command that the call gives variables', () => {
    const { parts } = readCommandLine('ls', { ...PLACE, env: ['GIT_DIR'] }, AGREES)
    expect(parts[0]!.doubts).toEqual([{ kind: 'hidden', reason: 'the call gives it GIT_DIR' }])
  })
})

describe('what runs is hidden by', () => {
  it.each([
    '$X -rf /',
    '"$X"',
    '`echo ls`',
    '/bin/r[m] x',
    'l*',
    'bash x.sh',
    './ls',
    'bin/ls',
    '/opt/ls',
    '/usr/bin/../../tmp/ls',
    'env ~/ls',
    'echo x | bash',
    'bash -c "$X"',
    'bash "$X"',
    'eval "$X"',
    'trap "$X" EXIT',
    '. ./x',
    'source x',
    'enable -f x ls',
    'hash -p x ls',
    'alias a=b',
    'env $X ls',
    'env --unheard-of x ls',
    "PS4='$(id)'",
    "git diff {--output=..'b,c'}x",
    'git diff {--output=..{b,c}}',
    'ls {"}",}',
    `cat "$'"{a,b}"'"`,
    `cat "$'"{a,b"'"}`,
    'ls {Z..a}',
    "cat $'\\x{2f}etc'",
    "cat $'a\\\nb'",
    "cat $'\\xe9'",
    'BASH_ENV=x bash -c ls',
    'PATH=x ls',
    'env LD_PRELOAD=x ls',
    'export BASH_ENV=x',
    'export PATH="$PATH:x"',
  ])('%j', (text) => {
    expect(doubtsOf(text).map(({ kind }) => kind)).toContain('hidden')
  })
})

describe('a line is not read with certainty', () => {
  it.each([
    ['ls "', 'unterminated'],
    ['ls && && id', 'unexpected'],
    ['( ls', 'expected'],
    ['ls )', 'unexpected'],
    ['done; ls', 'unexpected'],
    ['ls `', 'unterminated'],
    ['ls $(ls "', 'unterminated'],
    [`sh -c 'ls "'`, 'unterminated'],
    ['cat <<EOF\nx', 'has no end'],
    ['cat $\\\nHOME/x', 'continues right after a dollar sign'],
    ['cat "$\\\nHOME/x"', 'continues right after a dollar sign'],
    ["cat $\\\n'\\057etc/passwd'", 'continues right after a dollar sign'],
    ['ls `cat \\$\\\\\nHOME/x`', 'continues right after a dollar sign'],
    ['ls\u0007', '\\u{7}'],
    ['ls\rid', '\\r'],
    ['cat a\u202eb', '\\u{202e}'],
    ['cat a\u200bb', '\\u{200b}'],
    ['cat a\u3164b', '\\u{3164}'],
    ['cat a\u00a0b', '\\u{a0}'],
    ['cat \ud800', '\\u{d800}'],
  ])('%j', (text, reason) => {
    expect(read(text).doubts).toContainEqual({ kind: 'unread', reason: expect.stringContaining(reason) })
  })

  it.each([
    ['long words', `ls ${'a'.repeat(70_000)}`, '70003 characters'],
    ['deep substitutions', '$('.repeat(5_000), 'more than 40 deep'],
    ['many braces', '{a,b}'.repeat(2_000), 'more than 1000 times'],
    ['many here-documents', 'cat <<E;'.repeat(100), 'more than 50 here-documents'],
    ['many commands', 'ls;'.repeat(3_000), 'more than 1000 commands'],
    ['many wrappers', `${'env '.repeat(3_000)}ls`, 'more than 16 deep'],
    ['deep arithmetic', `((${'1+'.repeat(9_000)}1))`, 'deep'],
  ])('with %s', (_, text, reason) => {
    expect(read(text).doubts).toContainEqual({ kind: 'unread', reason: expect.stringContaining(reason) })
  })

  it('and what can be read of it is found all the same', () => {
    expect(findPart('rm -rf /; id "', 'rm')).toBeDefined()
    expect(findPart('ls\r\nrm -rf /', 'rm')).toBeDefined()
  })

  it('without the second parser', () => {
    expect(readCommandLine('ls', PLACE).doubts).toEqual([{ kind: 'unread', reason: 'the second parser is not loaded' }])
  })

  it('when the second parser cannot parse it, or sees a command more', () => {
    expect(readCommandLine('ls', PLACE, () => ({ hasError: true, names: [] })).doubts[0]?.kind).toBe('unread')
    const sees = (from: number, to: number) => () => ({ hasError: false, names: [{ from, to }] })
    expect(readCommandLine('ls id', PLACE, sees(3, 5)).doubts).toEqual([
      { kind: 'unread', reason: 'the parsers disagree about "id"' },
    ])
    expect(readCommandLine('ls id', PLACE, sees(0, 2)).doubts).toEqual([])
  })

  it('also where only a text in it is seen otherwise', () => {
    const ask = (text: string) => ({ hasError: text === 'ls', names: [] })
    expect(readCommandLine("sh -c 'ls'", PLACE, ask).doubts[0]?.kind).toBe('unread')
  })
})

it('a NUL is refused', () => {
  expect(read('ls \0').doubts).toEqual([{ kind: 'refused', reason: expect.stringContaining('NUL') }])
})

it('files are named by their absolute paths', () => {
  expect(partsOf('cat a ./b/../.env src/*.ts < c')[0]!.paths).toEqual([
    '/ws/repo/a',
    '/ws/repo/.env',
    '/ws/repo/src/*.ts',
    '/ws/repo/c',
  ])
})
