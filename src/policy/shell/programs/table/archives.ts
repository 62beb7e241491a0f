import type { ProgramTable } from '../program-table.ts'
import { hidden, reach } from '../row.ts'

/** Programs that pack and unpack. */
export const ARCHIVES: readonly ProgramTable[] = [
  {
    names: 'tar gtar bsdtar',
    hasBareCluster: true,
    rows: [
      reach('-x --extract --get', 'writes what is in the archive', '-x'),
      reach('-c --create', 'writes an archive', '-c'),
      reach('-r --append', 'writes to the archive', '-r'),
      reach('-u --update', 'writes to the archive', '-u'),
      reach('-A --catenate --concatenate', 'writes to the archive', '-A'),
      reach('--delete', 'writes to the archive', '--delete'),
      hidden('--to-command=TEXT', 'runs a program for every file', '--to-command=./x'),
      hidden('-I --use-compress-program=TEXT', 'runs a program', '-I ./x'),
      hidden('--checkpoint-action=TEXT', 'may run a program', '--checkpoint-action=exec=./x'),
      hidden('-F --info-script --new-volume-script=TEXT', 'runs a program', '-F ./x'),
      hidden('--rsh-command=TEXT', 'runs a program to reach a machine', '--rsh-command=./x'),
      hidden('--rmt-command=TEXT', 'runs a program on another machine', '--rmt-command=./x'),
      reach('-f --file=FILE', 'reaches another machine', '-f host:x', /^[^/]+:/),
      reach('-T --files-from=FILE', 'reads operands and options from a file', '-T list'),
      reach('-X --exclude-from=FILE', 'reads names to leave out from a file', '-X list'),
      reach('-P --absolute-names', 'keeps paths that lead out of the folder', '-P'),
      reach('-C --directory=FILE', 'works in another folder', '-C x'),
      reach('--index-file=FILE', 'writes a file', '--index-file=x'),
      reach('--volno-file=FILE', 'writes a file', '--volno-file=x'),
      reach('-g --listed-incremental=FILE', 'writes a file', '-g x'),
      reach('--remove-files', 'deletes files', '--remove-files'),
      reach('--one-top-level[=FILE]', 'writes into a folder', '--one-top-level=x'),
      reach('-M --multi-volume', 'asks for the next volume', '-M'),
      reach('-s --transform --xform=TEXT', 'changes the names it writes', '--transform=s/a/b/'),
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
      reach('-S --suffix=TEXT', 'chooses the name of what it writes', '-S .x'),
      reach('-o --output=FILE', 'writes a file', '-o out'),
      reach('--files --files0[=FILE]', 'reads the files to pack from a file', '--files=list'),
      reach('--filelist=FILE', 'reads the files to pack from a file', '--filelist=list'),
      reach('--output-dir-flat --output-dir-mirror=FILE', 'writes into a folder', '--output-dir-flat=x'),
      reach('-D --patch-from=FILE', 'reads a dictionary', '-D x'),
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
      hidden('--unzip-command=TEXT', 'runs a program', '--unzip-command=./x a.zip'),
      hidden('-T --test', 'runs the program that its test names (-TT)', '-T a.zip'),
      reach('-m --move', 'deletes what it packed', '-m a.zip x'),
      reach('-@', 'reads the files to pack from its input', '-@ a.zip'),
    ],
    files: '-b --temp-path -O --output-file',
    operands: 'paths',
    implied: { kind: 'reach', reason: 'writes an archive', example: 'a.zip x' },
  },
  {
    names: 'unzip',
    rows: [reach('-d=FILE', 'writes into a folder', '-d x')],
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
