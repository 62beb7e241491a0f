import type { ProgramTable } from '../program-table.ts'
import { hiddenRow, reachRow } from '../row.ts'

/** Programs that pack and unpack. */
export const ARCHIVES: readonly ProgramTable[] = [
  {
    names: 'tar gtar bsdtar',
    hasBareCluster: true,
    rows: [
      reachRow('-x --extract --get', 'writes what is in the archive', '-x'),
      reachRow('-c --create', 'writes an archive', '-c'),
      reachRow('-r --append', 'writes to the archive', '-r'),
      reachRow('-u --update', 'writes to the archive', '-u'),
      reachRow('-A --catenate --concatenate', 'writes to the archive', '-A'),
      reachRow('--delete', 'writes to the archive', '--delete'),
      hiddenRow('--to-command=TEXT', 'runs a program for every file', '--to-command=./x'),
      hiddenRow('-I --use-compress-program=TEXT', 'runs a program', '-I ./x'),
      hiddenRow('--checkpoint-action=TEXT', 'may run a program', '--checkpoint-action=exec=./x'),
      hiddenRow('-F --info-script --new-volume-script=TEXT', 'runs a program', '-F ./x'),
      hiddenRow('--rsh-command=TEXT', 'runs a program to reach a machine', '--rsh-command=./x'),
      hiddenRow('--rmt-command=TEXT', 'runs a program on another machine', '--rmt-command=./x'),
      reachRow('-f --file=FILE', 'reaches another machine', '-f host:x', /^[^/]+:/),
      reachRow('-T --files-from=FILE', 'reads operands and options from a file', '-T list'),
      reachRow('-X --exclude-from=FILE', 'reads names to leave out from a file', '-X list'),
      reachRow('-P --absolute-names', 'keeps paths that lead out of the folder', '-P'),
      reachRow('-C --directory=FILE', 'works in another folder', '-C x'),
      reachRow('--index-file=FILE', 'writes a file', '--index-file=x'),
      reachRow('--volno-file=FILE', 'writes a file', '--volno-file=x'),
      reachRow('-g --listed-incremental=FILE', 'writes a file', '-g x'),
      reachRow('--remove-files', 'deletes files', '--remove-files'),
      reachRow('--one-top-level[=FILE]', 'writes into a folder', '--one-top-level=x'),
      reachRow('-M --multi-volume', 'asks for the next volume', '-M'),
      reachRow('-s --transform --xform=TEXT', 'changes the names it writes', '--transform=s/a/b/'),
    ],
    texts:
      '-b --blocking-factor --format -N --newer --after-date --newer-mtime --exclude --label --mode --mtime --owner ' +
      '--group --strip-components --sort --record-size --tape-length --quoting-style --starting-file -K -V',
    maybes: '--checkpoint --occurrence --totals --warning --exclude-tag',
    flags:
      '-t --list -v --verbose -z --gzip -j --bzip2 -J --xz -a -k -p -m -O --to-stdout -w -d --diff --compare --zstd -Z',
    operands: 'paths',
    clean: '-tvf a.tar',
  },
  {
    names: 'gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4 compress uncompress pigz',
    rows: [
      reachRow('-S --suffix=TEXT', 'chooses the name of what it writes', '-S .x'),
      reachRow('-o --output=FILE', 'writes a file', '-o out'),
      reachRow('--files --files0[=FILE]', 'reads the files to pack from a file', '--files=list'),
      reachRow('--filelist=FILE', 'reads the files to pack from a file', '--filelist=list'),
      reachRow('--output-dir-flat --output-dir-mirror=FILE', 'writes into a folder', '--output-dir-flat=x'),
      reachRow('-D --patch-from=FILE', 'reads a dictionary', '-D x'),
    ],
    flags: '-c --stdout --to-stdout -d --decompress -k --keep -l --list -t --test -f --force -v -q -r -n',
    operands: 'paths',
    implied: {
      unless: '-c --stdout --to-stdout -l --list -t --test',
      kind: 'reach',
      reason: 'puts another file in the place of its operand',
      example: 'a.txt',
    },
    clean: '-c a.txt',
  },
  { names: 'zcat bzcat xzcat zstdcat gzcat lz4cat', operands: 'paths' },
  {
    names: 'zip',
    rows: [
      hiddenRow('--unzip-command=TEXT', 'runs a program', '--unzip-command=./x a.zip'),
      hiddenRow('-T --test', 'runs the program that its test names (-TT)', '-T a.zip'),
      reachRow('-m --move', 'deletes what it packed', '-m a.zip x'),
      reachRow('-@', 'reads the files to pack from its input', '-@ a.zip'),
    ],
    files: '-b --temp-path -O --output-file',
    operands: 'paths',
    implied: { kind: 'reach', reason: 'writes an archive', example: 'a.zip x' },
  },
  {
    names: 'unzip',
    rows: [reachRow('-d=FILE', 'writes into a folder', '-d x')],
    flags: '-l -v -t -Z -p -c -z',
    texts: '-x -P',
    operands: 'paths',
    implied: {
      unless: '-l -v -t -Z -p -c -z',
      kind: 'reach',
      reason: 'writes what is in the archive',
      example: 'a.zip',
    },
    clean: '-l a.zip',
  },
  {
    names: '7z 7za 7zz rar unrar cpio ar',
    operands: 'paths',
    implied: { kind: 'reach', reason: 'writes an archive or what is in it', example: 'x a.7z' },
  },
]
