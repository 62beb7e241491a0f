import { describe, expect, it } from 'vitest'
import { readCommandLine } from './read-command-line.ts'

const PLACE = { cwd: '/ws/repo', roots: ['/ws/repo'] }
const AGREES = () => ({ hasError: false, names: [] })

/** Why what runs is only known when it runs. */
function hiddenIn(text: string): readonly string[] {
  const { parts } = readCommandLine(text, PLACE, AGREES)
  return parts.flatMap(({ doubts }) => doubts.filter(({ kind }) => kind === 'hidden').map(({ reason }) => reason))
}

const EVALUATED = 'what it evaluates may hold a command'

/** `read` fills v from outside of the line. */
describe('text that bash evaluates is followed from a variable', () => {
  it.each([
    'echo $((v))',
    'echo $[v]',
    '((v+1))',
    '((y = 1, v))',
    '((1 ? v : 2))',
    '((-(v)))',
    'for ((i=v;;)); do :; done',
    'for ((;v;)); do :; done',
    'for ((;;v)); do :; done',
    'let y=v',
    '[[ v -eq 0 ]]',
    '[[ 0 -ne $v ]]',
    '[[ 0 -lt $v ]]',
    '[[ 0 -le "$v" ]]',
    '[[ 0 -gt ${v} ]]',
    '[[ 0 -ge x$v ]]',
    '[[ -v $v ]]',
    '[[ -R a[v] ]]',
    'test -v "$v"',
    '[ -R "$v" ]',
    'test $op "$v"',
    '[ $v ]',
    'echo ${!v}',
    'echo ${v@P}',
    'echo ${z[v]}',
    'echo ${z[$v]}',
    'echo ${y:v}',
    'echo ${y:0:$v}',
    'z[v]=1',
    'z=([v]=1)',
    'unset "$v"',
    'declare -i y=$v',
    'declare -i y; y=v',
    'w=v; echo $((w))',
    'w=$v; x=$w; echo $((x))',
    'w=${u:-$v}; echo $((w))',
    'w=${u/a/$v}; echo $((w))',
    'w=${v^^}; echo $((w))',
    'w=${v@U}; echo $((w))',
    'w=$(echo $v); echo $((w))',
    'w=$(seq $v); echo $((w))',
    'w=("$v"); echo $((w))',
    'export "w=$v"; echo $((w))',
    'printf -v w %s "$v"; echo $((w))',
    'read w <<< "$v"; echo $((w))',
    'for w in $v; do echo $((w)); done',
    'select w in $v; do echo $((w)); done',
    '[[ $v =~ x ]]; echo $((BASH_REMATCH))',
    ': ${w:=$v}; echo $((w))',
    'set -- "$v"; echo $(($1))',
    'set -- "$v"; for w; do echo $((w)); done',
    'f() { echo $(($2)); }; f x "$v"',
    'f() { echo $(( $@ )); }; f "$v"',
    'RANDOM=$v',
    'read SECONDS <<< "$v"',
    'getopts x w "$v"; echo $((OPTARG))',
    'exec {z[v]}>/dev/null',
    'declare -a "w=$v"',
  ])('%j', (text) => {
    expect(hiddenIn(`read v; ${text}`).some((reason) => /may hold a command/.test(reason))).toBe(true)
    expect(hiddenIn(`v=1; ${text}`).filter((reason) => /may hold a command/.test(reason))).toEqual([])
  })

  it.each([
    "w='$'",
    "w=$'\\x24'",
    'w=\\$',
    'w="\\`"',
    'w=*',
    'w=${!x}',
    'w=${x@E}',
    'w=${x@Q}',
    'w=$(cat f)',
    'w=$(date +%s; cat f)',
    'w=$(date +$x)',
    "w=$(echo -e '\\x24')",
    'w=$(X=1 date)',
    'w=$(seq -f x 1)',
    'w=$(id -un)',
    'w=$(grep x f)',
    'w=$(stat -c %n f)',
    'w=$(git rev-list HEAD)',
    'wc() { cat f; }; w=$(wc)',
    'w=$_',
    'w=$0',
    'w=$PWD',
    'mapfile w',
    'readarray -t w < f',
    'read -r -p x w',
    'read -a w < f',
    "printf -v w '\\044'",
    "read w <<'E'\n$\nE\n",
    "for w in '$'; do :; done",
  ])('%j may hold a command', (text) => {
    expect(hiddenIn(`${text}; echo $((w))`.replace('\n;', '\n'))).toContain(EVALUATED)
  })

  it.each([
    'w=1',
    'w=$((x+1))',
    'w=$#',
    'w=$?',
    'w=${#x}',
    'w=$x',
    'w=${1:-5}',
    'w=$(wc -l < f)',
    'w=$(ls | wc -l)',
    'w=$(date +%s)',
    'w=$(seq 3)',
    'w=$(id -u)',
    'w=$(grep -c x f)',
    'w=$(grep --count x f)',
    'w=$(stat -c %s f)',
    'w=$(git rev-list --count HEAD)',
    'w=$(echo 5)',
    'w={1..3}',
    'w=$RANDOM',
    'read w <<< 5',
    'printf -v w %d 5',
    'for w in 1 2; do :; done',
    'read v; [[ $v = x ]]',
    'read v; [ "$v" = x ]',
    'read v; [[ -v v ]]; test -v v; unset v',
    'v=$(cat f); [[ $v =~ ^[0-9]+$ ]]',
    'read w2; echo "${w2:0:5}" ${#w2}',
  ])('%j is none', (text) => {
    expect(hiddenIn(`${text}; echo $((w))`)).toEqual([])
  })
})

describe('text that is written where bash evaluates it', () => {
  it.each([
    "[[ 'a[$(ls)]' -eq 0 ]]",
    "[[ -v 'a[$(ls)]' ]]",
    "a['$(ls)']=1",
    "echo ${a['$(ls)']}",
    "a=(['$(ls)']=1)",
    '(( a[\\$(ls)] ))',
    'echo $(( "a[\\$(ls)]" ))',
    "echo ${y:'a[$(ls)]'}",
    "set -- '$(ls)'; echo ${1@P}",
    "exec {a['$(ls)']}>/dev/null",
  ])('%j', (text) => {
    expect(hiddenIn(text)).not.toEqual([])
  })

  it.each([
    "test -v 'a[${y:-b[$}(ls)${z:-]}]'",
    "[ -v 'a[$x]' ]",
    "unset 'a[`ls`]'",
    "read 'a[$x]'",
    "printf -v 'a[$x]' y",
    "printf -va'[$x]' y",
    "let 'a[$x]'",
    "declare 'a[$x]=1'",
    "declare -a 'a=($x)'",
    "export 'a[$x]'",
    "wait -p 'a[$x]'",
    "getopts x 'a[$x]'",
  ])('%j, as a word of a builtin', (text) => {
    expect(hiddenIn(text)).toContain('it runs a text that is only known when it runs')
  })

  it.each([
    "printf '[$x]' y",
    "printf 'x-v' '[$5]'",
    "printf '%s' '[$5]'",
    "test '[x]' = y",
    'let x=a[1]',
    "read -p '[y/N] ' x",
  ])('%j is not evaluated', (text) => {
    expect(hiddenIn(text)).toEqual([])
  })
})

describe('a variable that says which code runs is found however it is set', () => {
  it.each([
    'for PATH in x; do ls; done',
    'select PATH in x; do ls; done',
    'printf -v PATH x',
    'printf -vPATH x',
    'command printf -v PATH x',
    'builtin -- read PATH',
    'read PATH',
    'read -r x PATH',
    'read -a PATH',
    'read -p x PATH',
    'mapfile -t -n 1 PATH',
    'getopts x PATH',
    'wait -n -p PATH',
    ': ${PATH:=x}',
    ': ${PATH=x}',
    '((PATH=5))',
    '((PATH++))',
    '((--PATH))',
    '((1 ? PATH = 5 : 2))',
    '((x, (PATH <<= 5)))',
    'echo $((PATH=5))',
    'for ((PATH=5;;)); do ls; done',
    'let PATH=5',
    'let PATH++',
    'exec {PATH}>x',
    'coproc PATH { ls; }',
    "declare 'PATH=x'",
    'export "PATH=$x"',
    'BASH_CMDS[ls]=x',
    'HOME=x ls',
    'env HOME=x ls',
  ])('%j', (text) => {
    expect(hiddenIn(text).some((reason) => /^it (sets|is given) (PATH|BASH_CMDS|HOME)$/.test(reason))).toBe(true)
  })

  it.each([
    'printf -v "$x" y',
    'read $x',
    'declare "$x"',
    'export $(cat f)',
    'export "P$x"=y',
    ': ${!x:=y}',
    'declare -n r=x',
    'local -n r',
    'typeset -gn r=x',
  ])('%j may set any', (text) => {
    expect(hiddenIn(text).some((reason) => /only known when it runs|second name/.test(reason))).toBe(true)
  })

  it.each([
    'for path_ in x; do ls; done',
    'read x -u 3',
    'read -d PATH x',
    'printf x -v',
    '((PATH == 5))',
    '((x <= PATH))',
    'let x==5',
    'export PATH',
    'export -n x',
    'declare -p x',
    'declare x=1',
    'echo ${PATH:-x}',
    'wait -n',
    'unset PATH',
    'env A=b ls',
  ])('%j sets none', (text) => {
    expect(
      hiddenIn(text).filter((reason) => !/evaluates/.test(reason) && !/runs another program/.test(reason)),
    ).toEqual([])
  })
})

it('words after the text of a shell are its positional parameters', () => {
  expect(hiddenIn(`sh -c 'echo $(($1))' _ "$v"`)).toContain(EVALUATED)
  expect(hiddenIn(`sh -c 'echo $(($1))' _ '$'`)).toContain(EVALUATED)
  expect(hiddenIn(`sh -c 'echo $(($1))' _ 5`)).toEqual([])
})

it('a value of env that could run later is hidden', () => {
  expect(hiddenIn("env i='a[$(ls)]' ls")).toContain('it sets i')
})

it('shows at most eight of what it finds', () => {
  expect(hiddenIn('read v; ((v));'.repeat(20))).toHaveLength(8)
})
