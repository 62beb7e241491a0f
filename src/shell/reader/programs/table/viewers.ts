import type { ProgramTable } from '../program-table.ts'
import { hiddenRow, reachRow } from '../row.ts'

const ESCAPES = 'lets anyone who types to it start a shell'

/** Programs that show or edit files on a terminal, and databases with a prompt: each can start others. */
export const VIEWERS: readonly ProgramTable[] = [
  {
    names: 'less more most pg zless zmore',
    rows: [
      reachRow('-o -O --log-file --LOG-FILE=FILE', 'writes a file', '-o x in.txt'),
      hiddenRow('-k --lesskey-file --lesskey-src --lesskey-content=FILE', 'reads commands from a file', '-k x in.txt'),
      hiddenRow('-t --tag -T --tag-file=TEXT', 'reads another file', '-t x in.txt'),
    ],
    operands: 'paths',
    operandRows: [
      { like: /^\+/, kind: 'hidden', reason: 'is a command for it, which may start a program', example: '+!id' },
    ],
    implied: { kind: 'hidden', reason: ESCAPES, example: 'in.txt' },
  },
  {
    names: 'man info apropos whatis pydoc perldoc',
    isVersioned: true,
    rows: [
      hiddenRow('-P --pager=TEXT', 'starts a program as its pager', '-P ./x ls'),
      hiddenRow('-H --html[=TEXT]', 'starts a program as its browser', '-H./x ls'),
      hiddenRow('-C --config-file=FILE', 'reads its settings from a file', '-C x ls'),
      reachRow('-o --output=FILE', 'writes a file', '-o x ls'),
    ],
    operands: 'guess',
    implied: { kind: 'hidden', reason: 'starts a pager, which can start a shell', example: 'ls' },
  },
  {
    names: 'vi vim nvim view vimdiff ex rvim gvim nano pico ed red emacs emacsclient micro joe kak helix hx code subl',
    style: 'exact',
    rows: [
      hiddenRow(
        '-c --cmd -e --eval --execute --command=TEXT',
        'is a command for it, which may start a program',
        '-c :!id x',
      ),
      hiddenRow('-S -s -u -l --load --script --init=FILE', 'reads commands from a file', '-S x x'),
      hiddenRow('-f --funcall=TEXT', 'is a command for it, which may start a program', '-f x x'),
      reachRow('-w -W -V=FILE', 'writes a file', '-w x x'),
    ],
    operands: 'paths',
    operandRows: [
      { like: /^\+/, kind: 'hidden', reason: 'is a command for it, which may start a program', example: '+!id' },
    ],
    implied: { kind: 'hidden', reason: ESCAPES, example: 'in.txt' },
  },
  {
    names: 'sqlite sqlite3 duckdb psql mysql mariadb mongo mongosh redis-cli clickhouse-client',
    style: 'exact',
    rows: [
      hiddenRow('-c --command -e --execute --eval=TEXT', 'is a command for it, which may start a program', '-c x x.db'),
      hiddenRow('-f --file=FILE', 'reads commands from a file', '-f x x.db'),
    ],
    operands: 'guess',
    operandRows: [
      {
        from: 2,
        kind: 'hidden',
        reason: 'is a command for it, which may start a program or write a file',
        example: 'x.db .tables',
      },
    ],
    implied: {
      isUnnamed: true,
      kind: 'hidden',
      reason: 'takes commands that start programs, read and write files',
      example: 'x.db',
    },
  },
  {
    names: 'tmux screen zellij dtach byobu',
    implied: { kind: 'hidden', reason: 'starts a shell that continues when the call is over', example: 'new' },
  },
  {
    names: 'open xdg-open start gio wslview',
    implied: { kind: 'reach', reason: 'starts the program that opens such a file', example: 'x' },
  },
]
