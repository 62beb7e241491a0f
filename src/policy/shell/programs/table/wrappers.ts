import type { ProgramTable } from '../program-table.ts'
import { hidden, reach } from '../row.ts'

/** Programs that run the program their operands name; whoever reads a line takes that one out and looks at it too. */
export const WRAPPERS: readonly ProgramTable[] = [
  {
    names: 'env genv',
    rows: [
      hidden('-S --split-string=TEXT', 'takes a text apart and runs it', '-S ls'),
      reach('-C --chdir=FILE', 'works in another folder', '-C x ls'),
      reach('-P=FILE', 'looks for programs in other folders', '-P x ls'),
      reach('-u --unset=TEXT', 'takes a variable away', '-u HOME ls'),
      reach('-f --file=FILE', 'reads variables from a file', '-f x ls'),
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
    rows: [reach('-o --output=FILE', 'writes a file', '-o x ls')],
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
      hidden('-x -command -s -source=FILE', 'reads commands from a file', '-x x a.out'),
      hidden('-ex -eval-command -o -one-line=TEXT', 'is a command for it', '-ex x a.out'),
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
      hidden('-x --command=FILE', 'reads commands from a file', '-x x ls'),
      reach('-o --output=FILE', 'writes a file', '-o x ls'),
    ],
    operandRows: [{ to: 1, kind: 'hidden', reason: 'is a program that runs, or a command', example: 'ls' }],
  },
]
