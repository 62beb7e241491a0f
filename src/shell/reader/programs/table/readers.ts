import { hiddenRow, type ProgramTable, reachRow } from '../program-table.ts'

/**
 * Programs that read files and print. A file operand is counted as a path and is as good as the folder it is in;
 * without one they read what is piped to them.
 */
export const READERS: readonly ProgramTable[] = [
  {
    names: 'cat gcat rev',
    flags: '-A -b -e -E -n -s -t -T -u -v --number --show-all --show-ends --show-tabs --squeeze-blank',
    operands: 'paths',
    clean: '-n in.txt',
  },
  { names: 'expand unexpand', texts: '-t --tabs', operands: 'paths' },
  { names: 'tac', texts: '-s --separator', operands: 'paths' },
  {
    names: 'nl',
    texts:
      '-b --body-numbering -d --section-delimiter -f --footer-numbering -h --header-numbering -i --line-increment -l ' +
      '--join-blank-lines -n --number-format -s --number-separator -v --starting-line-number -w --number-width',
    operands: 'paths',
  },
  { names: 'fold', texts: '-w --width', operands: 'paths' },
  { names: 'fmt', texts: '-w --width -g --goal -p --prefix', operands: 'paths' },
  { names: 'paste', texts: '-d --delimiters', operands: 'paths' },
  {
    names: 'column',
    texts:
      '-s --separator -o --output-separator -c --output-width -n --table-name -O --table-order -N --table-columns -l ' +
      '--table-columns-limit -E --table-noextreme -H --table-hide -R --table-right -T --table-truncate -W --table-wrap ' +
      '-r --tree -i --tree-id -p --tree-parent',
    flags: '-t --table -x -e -J --json',
    operands: 'paths',
  },
  {
    names: 'pr',
    texts:
      '-h --header -l --length -o --indent -w --width -W --page-width -D --date-format -N --first-line-number --columns',
    maybes: '-e --expand-tabs -i --output-tabs -n --number-lines -s --separator -S --sep-string',
    operands: 'paths',
  },
  {
    names: 'head ghead',
    texts: '-n --lines -c --bytes',
    flags: '-q --quiet --silent -v --verbose -z --zero-terminated',
    operands: 'paths',
    clean: '-5 in.txt',
  },
  {
    names: 'tail gtail',
    rows: [
      reachRow('-f -F --follow[=TEXT]', 'waits for more and never ends', '-f'),
      reachRow('--retry', 'waits for a file to be there', '--retry'),
    ],
    texts: '-n --lines -c --bytes -s --sleep-interval --pid --max-unchanged-stats -b',
    flags: '-q --quiet --silent -v --verbose -z --zero-terminated -r',
    operands: 'paths',
    clean: '-n 5 in.txt',
  },
  {
    names: 'cut gcut',
    texts: '-b --bytes -c --characters -d --delimiter -f --fields --output-delimiter',
    flags: '-n -s --only-delimited --complement -z --zero-terminated',
    operands: 'paths',
  },
  {
    names: 'uniq guniq',
    texts: '-f --skip-fields -s --skip-chars -w --check-chars',
    maybes: '--all-repeated --group',
    flags: '-c --count -d --repeated -D -i --ignore-case -u --unique -z --zero-terminated',
    operands: 'paths',
    operandRows: [{ from: 2, kind: 'reach', reason: 'is the file that uniq writes', example: 'in.txt' }],
    clean: '-c in.txt',
  },
  { names: 'tr gtr', operands: 'texts' },
  {
    names: 'wc gwc',
    rows: [reachRow('--files0-from=FILE', 'reads the files to count from a file', '--files0-from=list')],
    texts: '--total',
    flags: '-c --bytes -m --chars -l --lines -L --max-line-length -w --words',
    operands: 'paths',
    clean: '-l in.txt',
  },
  {
    names: 'ls dir vdir gls',
    // -D, -I, -T and -w are not listed: with some versions they take the next word, with others they do not.
    texts:
      '--ignore --hide --width --tabsize --block-size --indicator-style --quoting-style --time-style --format --sort --time',
    maybes: '--color --hyperlink --classify',
    flags:
      '-1 -a --all -A --almost-all -b -B -c -C -d --directory -f -F -g -G -h --human-readable -H -i --inode -k -l -L -m ' +
      '-n -N -o -p -q -Q -r --reverse -R --recursive -s --size -S -t -u -U -v -x -X -Z',
    operands: 'paths',
    clean: '-la src/',
  },
  {
    names: 'eza exa lsd',
    texts: '-L --level -I --ignore-glob -s --sort -t --time --time-style',
    maybes: '--color',
    operands: 'paths',
  },
  {
    names: 'bat batcat',
    style: 'exact',
    rows: [
      hiddenRow('--pager=TEXT', 'starts a pager', '--pager=./x'),
      reachRow('--generate-config-file', 'writes its configuration', '--generate-config-file'),
    ],
    texts: '-l --language --style --theme -r --line-range -H --highlight-line --color --decorations --paging --tabs -m',
    operands: 'paths',
    clean: '-p in.txt',
    operandRows: [{ like: /^cache$/, kind: 'reach', reason: 'writes its cache', example: 'cache' }],
  },
  { names: 'stat gstat', texts: '-c --format --printf --cached', operands: 'paths' },
  {
    names: 'du',
    rows: [
      reachRow('--files0-from=FILE', 'reads the files to look at from a file', '--files0-from=list'),
      reachRow('-X --exclude-from=FILE', 'reads names to leave out from a file', '-X list'),
    ],
    texts: '-d --max-depth -B --block-size --exclude -t --threshold --time-style',
    maybes: '--time',
    flags: '-0 -a --all -b --bytes -c --total -h --human-readable -k -L -l -m -P -S -s --summarize -x --apparent-size',
    operands: 'paths',
    clean: '-sh .',
  },
  { names: 'df', texts: '-B --block-size -t --type -x --exclude-type', maybes: '--output', operands: 'paths' },
  { names: 'readlink realpath', files: '--relative-to --relative-base', operands: 'paths' },
  { names: 'basename dirname', texts: '-s --suffix', operands: 'texts' },
  {
    names: 'file',
    rows: [
      reachRow('-f --files-from=FILE', 'reads the files to look at from a file', '-f list'),
      reachRow('-m --magic-file=FILE', 'reads how to tell files from a file', '-m magic'),
      reachRow('-C --compile', 'writes a file', '-C'),
      reachRow('-z --uncompress -Z --uncompress-noreport', 'starts programs that unpack', '-z'),
      reachRow('-S --no-sandbox', 'gives its own protection up', '-S'),
      reachRow('-s --special-files', 'reads devices', '-s'),
    ],
    texts: '-e --exclude --exclude-quiet -F --separator -P --parameter',
    operands: 'paths',
    clean: 'in.bin',
  },
  {
    names: 'md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum shasum md5',
    rows: [reachRow('-c --check', 'reads the files to check from a file', '-c sums.txt')],
    texts: '-a --algorithm -l --length',
    operands: 'paths',
    clean: 'in.txt',
  },
  {
    names: 'od',
    texts: '-A --address-radix -t --format -N --read-bytes -j --skip-bytes -S --strings --endian',
    maybes: '-w --width',
    operands: 'paths',
  },
  {
    names: 'hexdump hd',
    texts: '-e --format -n --length -s --skip',
    files: '-f --format-file',
    maybes: '-L --color',
    operands: 'paths',
  },
  {
    names: 'strings',
    texts: '-n -e -t --bytes --radix --encoding -T --target -U --unicode -s --output-separator',
    operands: 'paths',
  },
  {
    names: 'xxd',
    rows: [reachRow('-r -revert', 'writes bytes', '-r')],
    texts: '-c -g -l -s -n -o',
    operands: 'paths',
    operandRows: [{ from: 2, kind: 'reach', reason: 'is the file that xxd writes', example: 'in.bin' }],
    clean: 'in.bin',
  },
  {
    names: 'base64 base32 basenc',
    rows: [reachRow('-o --output=FILE', 'writes a file', '-o out.txt')],
    texts: '-w --wrap -b --break',
    files: '-i --input',
    operands: 'paths',
    clean: '-w0 in.bin',
  },
  { names: 'comm', texts: '--output-delimiter', operands: 'paths' },
  { names: 'cmp', texts: '-i --ignore-initial -n --bytes', operands: 'paths' },
  { names: 'join', texts: '-t -1 -2 -j -o -e -a -v', operands: 'paths' },
]
