import type { ImpliedRow, OperandRow, ProgramTable } from '../program-table.ts'
import { hiddenRow } from '../row.ts'

const ASKED_ONLY = '-V --version -h --help'
const PIPED: ImpliedRow = {
  unless: `${ASKED_ONLY} -v -e -E --eval --execute -c --command`,
  unlessOperands: true,
  isUnnamed: true,
  kind: 'hidden',
  reason: 'runs the program that is piped to it',
  example: '',
}
const FILE: OperandRow = {
  to: 1,
  unless: '-e -E --eval --execute -c --command',
  kind: 'hidden',
  reason: 'is a program that runs, whatever it holds',
  example: 'x',
}

/** Languages and shells: what runs is in their words, a file or their input, so only asking for the version is harmless. */
export const INTERPRETERS: readonly ProgramTable[] = [
  {
    names: 'perl',
    isVersioned: true,
    style: 'exact',
    rows: [
      hiddenRow('-e -E=TEXT', 'is a program in another language', '-e 1'),
      hiddenRow('-M -m=TEXT', 'loads code', '-MPOSIX'),
      hiddenRow('-I=FILE', 'loads code from a folder', '-I x'),
      hiddenRow('-i[=TEXT]', 'changes its files in place', '-i.bak'),
      hiddenRow('-d -D[=TEXT]', 'loads a debugger, or code in its name', '-d:x'),
      hiddenRow('-x[=FILE]', 'runs a program in the middle of a file', '-x'),
      hiddenRow('-V[=TEXT]', 'shows how it was built', '-V:x'),
    ],
    flags: '-v --version -h --help',
    stopsAtOperand: true,
    operands: 'guess',
    operandRows: [FILE],
    implied: PIPED,
    clean: '-v',
  },
  {
    names:
      'ruby jruby irb php lua luajit tclsh expect Rscript R julia scala groovy kotlin java elixir erl ghci racket guile ' +
      'osascript swift dart crystal nim m4 bc dc gnuplot octave gs wish jshell ocaml sbcl clisp iex maxima scheme csi gsi',
    isVersioned: true,
    style: 'exact',
    rows: [
      hiddenRow('-e --eval --execute=TEXT', 'is a program in another language', '-e 1'),
      hiddenRow('-r --require --run=TEXT', 'is code, or names code to load', '-r x'),
      hiddenRow('-a -B -R -E -F -f -l -I=TEXT', 'is code, or names code to load', '-f x'),
    ],
    flags: ASKED_ONLY,
    stopsAtOperand: true,
    operands: 'guess',
    operandRows: [FILE],
    implied: PIPED,
    clean: '--version',
  },
  {
    names: 'sh bash dash zsh ksh mksh ash fish csh tcsh rbash pwsh nu busybox toybox',
    style: 'exact',
    rows: [
      hiddenRow('-c --command=TEXT', 'is a script', '-c ls'),
      hiddenRow('--rcfile --init-file=FILE', 'runs a file first', '--rcfile x'),
      hiddenRow('-i', 'runs the files of the user first', '-i'),
      hiddenRow('-l --login', 'runs the files of the user first', '-l'),
      hiddenRow('-s', 'runs the script that is piped to it', '-s'),
    ],
    flags: '--version --help',
    stopsAtOperand: true,
    operands: 'guess',
    operandRows: [{ ...FILE, reason: 'is a script that runs, whatever it holds' }],
    implied: { ...PIPED, reason: 'runs the script that is piped to it' },
    clean: '--version',
  },
  {
    names: 'source . eval',
    style: 'none',
    operands: 'guess',
    operandRows: [{ to: 1, kind: 'hidden', reason: 'is a script that runs in the shell itself', example: './x.sh' }],
  },
]
