import { type CompiledTable, compileByName } from './compile-table.ts'
import { hiddenRow, type ProgramTable, reachRow } from './program-table.ts'
import { CARGO, MAKE } from './table/build-tools.ts'
import { BUILTINS } from './table/builtins.ts'
import { ARCHIVES, FILES } from './table/files.ts'
import { GIT_CHANGING_COMMANDS, GIT_LISTING_COMMANDS } from './table/git-changing.ts'
import { GIT_READING_COMMANDS } from './table/git-reading.ts'
import { GO } from './table/go.ts'
import { CURL, WGET } from './table/http-clients.ts'
import { INTERPRETERS, PYTHON } from './table/interpreters.ts'
import { CONTAINERS, REMOTE } from './table/machines.ts'
import { JS_TOOLS, NODE } from './table/node.ts'
import { NPM } from './table/npm.ts'
import { READERS } from './table/readers.ts'
import { FIND, SEARCH } from './table/search.ts'
import { TEXT_PROGRAMS, VIEWERS } from './table/text.ts'

/** Programs that run the program their operands name; the reader of a command line takes that program out and examines it too. */
const WRAPPERS: readonly ProgramTable[] = [
  {
    names: 'env genv',
    rows: [
      hiddenRow('-S --split-string=TEXT', 'takes a text apart and runs it', '-S ls'),
      reachRow('-C --chdir=FILE', 'works in another folder', '-C x ls'),
      reachRow('-P=FILE', 'looks for programs in other folders', '-P x ls'),
      reachRow('-u --unset=TEXT', 'takes a variable away', '-u HOME ls'),
      reachRow('-f --file=FILE', 'reads variables from a file', '-f x ls'),
    ],
    stopsAtOperand: true,
    operands: 'guess',
    operandRows: [{ like: /=/, to: 1, kind: 'reach', reason: 'changes the environment', example: 'X=1' }],
    implied: { kind: 'hidden', reason: 'runs another program, or shows the environment', example: 'ls' },
  },
  {
    names:
      'nice nohup timeout gtimeout setsid stdbuf ionice taskset chrt time command builtin exec watch script unbuffer ' +
      'flock catchsegv linux32 linux64 setarch caffeinate entr',
    style: 'exact',
    rows: [reachRow('-o --output=FILE', 'writes a file', '-o x ls')],
    stopsAtOperand: true,
    operands: 'guess',
    implied: { kind: 'hidden', reason: 'runs another program', example: 'ls' },
  },
  {
    names:
      'sudo doas su pkexec runuser setpriv capsh chroot unshare bwrap firejail systemd-run at batch crontab newgrp sg ' +
      'fakeroot proot',
    stopsAtOperand: true,
    operands: 'guess',
    operandRows: [
      { to: 1, kind: 'hidden', reason: 'is a program that runs with other rights or later', example: 'ls' },
    ],
    implied: { kind: 'hidden', reason: 'gives other rights, or runs something later', example: '' },
  },
  {
    names: 'gdb lldb',
    style: 'words',
    rows: [
      hiddenRow('-x -command -s -source=FILE', 'reads commands from a file', '-x x a.out'),
      hiddenRow('-ex -eval-command -o -one-line=TEXT', 'is a command for it', '-ex x a.out'),
    ],
    flags: '-v -version -h -help',
    operands: 'guess',
    operandRows: [{ to: 1, kind: 'hidden', reason: 'is a program that runs, or a command', example: 'ls' }],
    implied: {
      unless: '-v -version -h -help',
      isUnnamed: true,
      kind: 'hidden',
      reason: 'takes commands from its input, and some start programs',
      example: 'a.out',
    },
    clean: '--version',
  },
  {
    names: 'strace ltrace perf valgrind ftrace bpftrace dtrace rr',
    stopsAtOperand: true,
    operands: 'guess',
    rows: [
      hiddenRow('-x --command=FILE', 'reads commands from a file', '-x x ls'),
      reachRow('-o --output=FILE', 'writes a file', '-o x ls'),
    ],
    operandRows: [{ to: 1, kind: 'hidden', reason: 'is a program that runs, or a command', example: 'ls' }],
  },
]

/** git itself: what stands before the command, which decides whose configuration and programs are used. */
const GIT: readonly ProgramTable[] = [
  {
    names: 'git',
    style: 'exact',
    rows: [
      hiddenRow('-c=TEXT', 'sets a configuration value, and many name a program to run', '-c core.fsmonitor=./x'),
      hiddenRow(
        '--config-env=TEXT',
        'sets a configuration value from the environment',
        '--config-env=core.pager=PAGER',
      ),
      reachRow('-C=FILE', 'works in another folder, with the configuration there', '-C ../other'),
      reachRow('--git-dir=FILE', 'uses another repository and its configuration', '--git-dir=/tmp/evil'),
      reachRow('--work-tree=FILE', 'works on another folder', '--work-tree=/'),
      hiddenRow('--exec-path[=FILE]', 'takes the programs of git from another folder', '--exec-path=/tmp/x'),
      hiddenRow('-p --paginate', 'starts a pager', '-p'),
      reachRow('--namespace=TEXT', 'uses other references', '--namespace=x'),
      reachRow('--super-prefix=TEXT', 'reads paths from another folder', '--super-prefix=x/'),
      reachRow('--bare', 'takes the folder itself for a repository, with the configuration in it', '--bare'),
      reachRow('--attr-source=TEXT', 'takes the attributes of files from another tree', '--attr-source=HEAD'),
      reachRow('--help', 'opens a viewer', '--help'),
    ],
    flags:
      '-P --no-pager --no-replace-objects --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs ' +
      '--no-optional-locks --no-lazy-fetch --no-advice --version -v -h --html-path --man-path --info-path',
    maybes: '--list-cmds',
    isClosed: true,
    commands: [...GIT_READING_COMMANDS, ...GIT_LISTING_COMMANDS, ...GIT_CHANGING_COMMANDS],
    otherwise: {
      kind: 'hidden',
      reason: 'is a command of git that may change the repository, or an alias that runs a program',
      example: 'deploy',
    },
    clean: 'status',
  },
  {
    names: 'gh hub glab',
    commands: [
      { names: 'version help', operands: 'texts' },
      { names: 'status', operands: 'texts' },
    ],
    otherwise: { kind: 'reach', reason: 'reaches a service over the network', example: 'pr list' },
    clean: 'version',
  },
]

/** Every program that something is known of. */
export const TABLES: readonly ProgramTable[] = [
  ...ARCHIVES,
  ...BUILTINS,
  ...CARGO,
  ...CONTAINERS,
  ...CURL,
  ...FILES,
  ...FIND,
  ...GIT,
  ...GO,
  ...INTERPRETERS,
  ...JS_TOOLS,
  ...MAKE,
  ...NODE,
  ...NPM,
  ...PYTHON,
  ...READERS,
  ...REMOTE,
  ...SEARCH,
  ...TEXT_PROGRAMS,
  ...VIEWERS,
  ...WGET,
  ...WRAPPERS,
]

const findByName = compileByName(TABLES)

/** Finds what is known of the program that a word names, in whatever folder it is. */
export function findTable(word: string | undefined): CompiledTable | undefined {
  if (word === undefined) return undefined
  const name = word.slice(word.lastIndexOf('/') + 1)
  const exact = findByName(name) ?? findByName(name.toLowerCase())
  if (exact) return exact
  const stem = /^([a-z]+)-?\d[\d.]{0,15}$/.exec(name)?.[1]
  const versioned = stem === undefined ? undefined : findByName(stem)
  return versioned?.table.isVersioned ? versioned : undefined
}

const RISKS = ['rows', 'operandRows', 'files', 'scripts', 'pairs', 'implied', 'commands', 'stopsAtOperand'] as const

/** Says whether no option of a program does harm, so that a file which is called like one does none either. */
export function isHarmless(program: string): boolean {
  const table = findTable(program)?.table
  return table !== undefined && RISKS.every((risk) => table[risk] === undefined)
}
