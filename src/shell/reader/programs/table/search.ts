import { hiddenRow, type ProgramTable, reachRow } from '../program-table.ts'

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
