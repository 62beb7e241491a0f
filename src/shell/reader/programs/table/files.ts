import type { ProgramTable } from '../program-table.ts'
import { hiddenRow, reachRow } from '../row.ts'

/** Programs whose name says that they write: their operands are the files, and what an option adds is a hazard. */
export const FILES: readonly ProgramTable[] = [
  {
    names: 'cp mv gcp gmv',
    rows: [reachRow('-S --suffix=TEXT', 'chooses the name of a backup', '-S ~')],
    files: '-t --target-directory',
    maybes: '--backup --preserve --no-preserve --sparse --reflink --context --update',
    operands: 'paths',
    clean: 'a.txt b.txt',
  },
  {
    names: 'install ginstall',
    rows: [
      hiddenRow('--strip-program=TEXT', 'runs a program', '--strip-program=./x'),
      reachRow('-s --strip', 'runs strip', '-s'),
      reachRow('-o --owner=TEXT', 'gives a file to another user', '-o root'),
      reachRow('-m --mode=TEXT', 'may make a file run as its owner', '-m 4755', /^0*[2-7]\d{3}$|s/),
    ],
    texts: '-g --group -S --suffix',
    files: '-t --target-directory',
    operands: 'paths',
    clean: 'a.txt b.txt',
  },
  { names: 'ln', texts: '-S --suffix', files: '-t --target-directory', operands: 'paths', clean: '-s a.txt b.txt' },
  {
    names: 'rm unlink rmdir',
    risk: 'deletes',
    rows: [reachRow('--no-preserve-root', 'lets it delete everything', '--no-preserve-root')],
    maybes: '--interactive --preserve-root',
    operands: 'paths',
    clean: '-f a.txt',
  },
  { names: 'mkdir mkfifo', texts: '-m --mode', maybes: '--context', operands: 'paths' },
  { names: 'mknod', implied: { kind: 'reach', reason: 'makes a device', example: 'x c 1 3' } },
  { names: 'touch', texts: '-d --date -t --time', files: '-r --reference', operands: 'paths' },
  {
    names: 'chmod',
    rows: [reachRow('--reference=FILE', 'takes the mode of another file', '--reference=x')],
    operands: { texts: 1, unless: '--reference' },
    operandRows: [
      {
        to: 1,
        like: /^0*[2-7]\d{3}$|^[ugoa]*[+=][rwxXt]*s/,
        kind: 'reach',
        reason: 'makes a file run as its owner',
        example: 'u+s',
      },
    ],
    clean: '+x a.sh',
  },
  {
    names: 'chown chgrp',
    rows: [reachRow('--reference=FILE', 'takes the owner of another file', '--reference=x')],
    texts: '--from',
    operands: { texts: 1, unless: '--reference' },
    clean: 'me a.txt',
  },
  { names: 'tee', maybes: '--output-error', operands: 'paths' },
  {
    names: 'truncate fallocate',
    risk: { truncate: 'deletes' },
    texts: '-s --size -l --length',
    files: '-r --reference',
    operands: 'paths',
  },
  {
    names: 'shred',
    risk: 'deletes',
    rows: [reachRow('--random-source=FILE', 'reads random bytes from a file', '--random-source=x')],
    texts: '-n --iterations -s --size',
    maybes: '--remove',
    operands: 'paths',
    clean: 'a.txt',
  },
  {
    names: 'dd',
    style: 'none',
    operandRows: [{ like: /^of=/, kind: 'reach', reason: 'writes a file or a device', example: 'of=out.bin' }],
    clean: 'if=in.bin bs=1k count=1',
  },
  {
    names: 'mktemp',
    rows: [reachRow('-p --tmpdir[=FILE]', 'makes it in another folder', '-p/x')],
    texts: '--suffix',
    operands: 'paths',
    clean: '-d',
  },
]
