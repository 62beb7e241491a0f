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
    operandRows: [{ like: /^@/, kind: 'reach', reason: 'reads its operands from a file', example: '@list' }],
    clean: 'a.bin',
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

/** Programs that search in files. */
export const SEARCH: readonly ProgramTable[] = [
  {
    names: 'grep egrep fgrep zgrep zegrep zfgrep bzgrep xzgrep ggrep',
    rows: [
      reachRow('-f --file=FILE', 'reads its patterns from a file', '-f patterns.txt'),
      reachRow('--exclude-from=FILE', 'reads names to leave out from a file', '--exclude-from=names.txt'),
      reachRow('--decompress', 'starts a program that unpacks', '--decompress'),
    ],
    texts:
      '-e --regexp -A --after-context -B --before-context -C --context -m --max-count -d --directories -D --devices ' +
      '--include --exclude --exclude-dir --include-dir --label --binary-files --group-separator',
    maybes: '--color --colour',
    flags:
      '-E --extended-regexp -F --fixed-strings -G --basic-regexp -P --perl-regexp -i -y --ignore-case ' +
      '--no-ignore-case -w --word-regexp -x --line-regexp -z --null-data -s --no-messages -v --invert-match -V ' +
      '--version --help -b --byte-offset -n --line-number --line-buffered -H --with-filename -h --no-filename -o ' +
      '--only-matching -q --quiet --silent -a --text -I -r --recursive -R --dereference-recursive -L ' +
      '--files-without-match -l --files-with-matches -c --count -T --initial-tab -Z --null -U --binary ' +
      '--no-group-separator -u --unix-byte-offsets -p -S -O',
    isClosed: true,
    operands: { texts: 1, unless: '-e --regexp -f --file' },
    clean: '-rn --include=*.go -A3 foo .',
  },
  {
    names: 'rg',
    style: 'exact',
    rows: [
      hiddenRow('--pre=TEXT', 'runs a program on every file', '--pre ./x'),
      hiddenRow('--hostname-bin=TEXT', 'runs a program to learn the name of the machine', '--hostname-bin=./x'),
      reachRow('-z --search-zip', 'starts programs that unpack', '-z'),
      reachRow('-f --file=FILE', 'reads its patterns from a file', '-f patterns.txt'),
      reachRow('--ignore-file=FILE', 'reads names to leave out from a file', '--ignore-file=names.txt'),
    ],
    texts:
      '-e --regexp -A --after-context -B --before-context -C --context -m --max-count -g --glob --iglob -t --type -T ' +
      '--type-not --type-add --type-clear -r --replace -d --max-depth --maxdepth -M --max-columns --max-filesize -j ' +
      '--threads --sort --sortr --color --colors --context-separator --field-context-separator ' +
      '--field-match-separator --path-separator --pre-glob -E --encoding --engine --dfa-size-limit --regex-size-limit ' +
      '--hyperlink-format --generate',
    operands: { texts: 1, unless: '-e --regexp -f --file --files --type-list' },
    flags:
      '--files --type-list --no-search-zip --no-pre --no-config -b --byte-offset -s --case-sensitive -c --count -l ' +
      '--files-with-matches -F --fixed-strings -L --follow -h --help --heading --hidden -. -i --ignore-case -v ' +
      '--invert-match --json -n --line-number -x --line-regexp -U --multiline -I --no-filename --no-heading --no-ignore ' +
      '-N --no-line-number --no-messages -0 --null -o --only-matching -P --pcre2 -p --pretty -q --quiet -S --smart-case ' +
      '--stats -a --text --trim -u --unrestricted -V --version --vimgrep -H --with-filename -w --word-regexp ' +
      '--column --passthru --count-matches --files-without-match --no-ignore-vcs --no-column --crlf --debug ' +
      '--line-buffered --one-file-system --stop-on-nonmatch',
    clean: '-n -tgo foo src/',
  },
  {
    names: 'ag ack ack-grep',
    rows: [
      hiddenRow('--pager=TEXT', 'starts a pager', '--pager=./x'),
      reachRow('-p --path-to-ignore=FILE', 'reads names to leave out from a file', '-p names.txt'),
      reachRow('--ackrc=FILE', 'reads its options from a file', '--ackrc=x'),
      reachRow('--files-from=FILE', 'reads the files to search from a file', '--files-from=x'),
      reachRow('-x', 'reads the files to search from its input', '-x'),
      hiddenRow('--output=TEXT', 'evaluates an expression in Perl', '--output=$1'),
    ],
    texts: '-A -B -C -m --max-count --depth --ignore --ignore-dir -G --workers --match',
    flags: '--nopager --ignore-case',
    operands: { texts: 1, unless: '-g --match' },
    clean: '-i foo src/',
  },
  {
    names: 'fzf sk',
    style: 'exact',
    rows: [
      hiddenRow('--bind --preview --with-shell -c --cmd --cmd-prompt=TEXT', 'runs a command line', '--bind=x'),
      hiddenRow('--listen --listen-unsafe[=TEXT]', 'takes commands from others', '--listen-unsafe'),
      reachRow('--history --history-file=FILE', 'writes a file', '--history=x'),
    ],
    texts: '-q --query -f --filter -d --delimiter -n --nth --with-nth --prompt --header --height --tiebreak -m --multi',
    operands: 'texts',
    clean: '-f foo',
  },
]

/** Programs that look for files. */
export const FIND: readonly ProgramTable[] = [
  {
    names: 'find gfind',
    style: 'words',
    rows: [
      reachRow('-exec', 'runs a program on what it finds', '-exec cat {} ;'),
      reachRow('-execdir', 'runs a program in the folder of what it finds', '-execdir cat {} ;'),
      reachRow('-ok -okdir', 'runs a program on what it finds', '-ok cat {} ;'),
      reachRow('-delete', 'deletes what it finds', '-delete'),
      reachRow('-fprint -fprint0 -fls=FILE', 'writes a file', '-fprint out.txt'),
      // It takes a file and a format; the format is then read as an operand.
      reachRow('-fprintf=FILE', 'writes a file', '-fprintf out.txt %p'),
      reachRow('-files0-from=FILE', 'reads the folders to search from a file', '-files0-from list'),
      reachRow('-f=FILE', 'names one more folder to search', '-f /etc'),
    ],
    texts:
      '-name -iname -path -ipath -wholename -iwholename -lname -ilname -regex -iregex -regextype -type -xtype -size ' +
      '-mtime -atime -ctime -mmin -amin -cmin -maxdepth -mindepth -user -group -uid -gid -perm -links -inum -fstype ' +
      '-used -printf -context -D -Bmin -flags',
    files: '-newer -anewer -cnewer -samefile -newermm -neweraa -newercc -newerma -newerac',
    operands: 'paths',
    clean: '. -type f ( -name *.go -o -name *.mod ) -not -path ./vendor/* -print',
  },
  {
    names: 'fd fdfind',
    style: 'exact',
    rows: [
      reachRow('-x --exec=TEXT', 'runs a program on what it finds', '-x cat'),
      reachRow('-X --exec-batch=TEXT', 'runs a program on what it finds', '-X cat'),
      reachRow('--ignore-file=FILE', 'reads names to leave out from a file', '--ignore-file=x'),
    ],
    texts: '-e --extension -t --type -d --max-depth --min-depth --exact-depth -E --exclude -S --size -c --color -j',
    files: '--search-path --base-directory -C',
    operands: { texts: 1 },
    clean: '-e go main src/',
  },
  {
    names: 'locate plocate mlocate',
    rows: [reachRow('-d --database=FILE', 'reads another database', '-d x.db')],
    texts: '-l --limit -n',
    operands: 'texts',
    implied: { kind: 'reach', reason: 'lists files of the whole machine', example: 'passwd' },
  },
  {
    names: 'tree',
    rows: [
      reachRow('-o=FILE', 'writes a file', '-o out.txt'),
      reachRow('-R', 'writes a file into every folder', '-R'),
      reachRow('--fromfile --fromtabfile[=FILE]', 'reads a listing from a file', '--fromfile list.txt'),
      reachRow('--gitfile --infofile=FILE', 'reads patterns from a file', '--gitfile=x'),
    ],
    texts: '-L -P -I -H -T --charset --filelimit --timefmt',
    maybes: '--sort',
    operands: 'paths',
    clean: '-a -L 2 src/',
  },
  {
    names: 'xargs gxargs parallel',
    rows: [
      reachRow('-a --arg-file=FILE', 'reads the arguments from a file', '-a list.txt cat'),
      reachRow('--process-slot-var=TEXT', 'sets a variable of the program it runs', '--process-slot-var=X cat'),
      reachRow('-p -o --open-tty --interactive', 'opens the terminal', '-p cat'),
    ],
    texts: '-n --max-args -P --max-procs -I -L -s --max-chars -d --delimiter -E -J -R -S',
    maybes: '-i -l -e --replace --max-lines --eof',
    stopsAtOperand: true,
    operands: 'texts',
    implied: { kind: 'hidden', reason: 'runs a program with words from its input', example: 'cat' },
  },
]
