import { hiddenRow, type ProgramTable, reachRow } from '../program-table.ts'
import { readSedScript } from '../read-sed-script.ts'

/** What a jq program can do besides working on its input. */
const JQ_REACH = /\$ENV\b|(?<![.\w])env\b|\bimport\b|\binclude\b|\binput_filename\b|\bmodulemeta\b|\bget_search_list\b/

/** Programs that work on text. */
export const TEXT_PROGRAMS: readonly ProgramTable[] = [
  {
    names: 'sort gsort',
    rows: [
      reachRow('-o --output=FILE', 'writes the sorted lines to a file', '-o out.txt'),
      hiddenRow('--compress-program=TEXT', 'runs a program on its temporary files', '--compress-program=./x'),
      reachRow('--files0-from=FILE', 'reads the files to sort from a file', '--files0-from=list'),
      reachRow('-T --temporary-directory=FILE', 'writes temporary files to a folder', '-T tmp'),
      reachRow('--random-source=FILE', 'reads random bytes from a file', '--random-source=x'),
    ],
    texts: '-k --key -t --field-separator -S --buffer-size --parallel --batch-size --sort',
    maybes: '--check',
    flags:
      '-b -c -C -d -f -g -h -i -m -M -n -r -R -s -u -V -z --reverse --unique --zero-terminated --stable --merge ' +
      '--numeric-sort --random-sort --version-sort --ignore-case --debug',
    operands: 'paths',
    clean: '-t: -k2,2n in.txt',
  },
  {
    names: 'sed gsed',
    rows: [
      reachRow('-i --in-place[=TEXT]', 'changes its files in place', '-i s/a/b/'),
      reachRow('-I=TEXT', 'changes its files in place', '-I .bak s/a/b/'),
      hiddenRow('-f --file=FILE', 'reads its script from a file', '-f script.sed'),
    ],
    scripts: '-e --expression',
    texts: '-l --line-length',
    flags: '-n --quiet --silent -E -r --regexp-extended -s --separate -z --null-data -u --unbuffered --posix --sandbox',
    operands: { texts: 1, unless: '-e --expression -f --file' },
    readScript: readSedScript,
    clean: 's/[^/]*$//;1,5p in.txt',
  },
  {
    names: 'awk gawk mawk nawk goawk',
    rows: [
      hiddenRow('-f --file=FILE', 'reads its program from a file', '-f x.awk'),
      hiddenRow('-E --exec=FILE', 'reads its program from a file', '-E x.awk'),
      hiddenRow('-e --source=TEXT', 'is a program in another language', '-e {print}'),
      hiddenRow('-i --include=FILE', 'reads code from a file', '-i inplace'),
      hiddenRow('-l --load=TEXT', 'loads a library', '-l ./x'),
      hiddenRow('-W=TEXT', 'is another spelling of any of its options', '-W exec=x.awk'),
      reachRow('-o --pretty-print[=FILE]', 'writes a file', '-oout.awk'),
      reachRow('-p --profile[=FILE]', 'writes a file', '-pout.awk'),
      reachRow('-d --dump-variables[=FILE]', 'writes a file', '-dout.txt'),
      hiddenRow('-D --debug[=FILE]', 'starts a debugger', '-D'),
    ],
    texts: '-F --field-separator -v --assign',
    operands: { texts: 1, unless: '-f --file -E --exec -e --source' },
    operandRows: [
      {
        to: 1,
        unless: '-f --file -E --exec -e --source',
        kind: 'hidden',
        reason: 'is a program in another language',
        example: '{print}',
      },
    ],
    clean: '--version',
  },
  {
    names: 'jq jaq gojq',
    rows: [
      hiddenRow('-f --from-file=FILE', 'reads its program from a file', '-f x.jq'),
      reachRow('-L --library-path=FILE', 'loads modules from a folder', '-L modules'),
      reachRow('--run-tests[=FILE]', 'reads tests from a file', '--run-tests'),
      reachRow('--rawfile --slurpfile=TEXT', 'reads a file into a variable', '--rawfile x in.txt'),
    ],
    texts: '--indent',
    pairs: '--arg --argjson',
    flags:
      '-n --null-input -r --raw-output -j -a -s --slurp -c --compact-output -S --sort-keys -e --exit-status --stream -R ' +
      '--raw-input -C -M --tab --args --jsonargs --seq',
    operands: { texts: 1, unless: '-f --from-file' },
    operandRows: [{ like: JQ_REACH, kind: 'reach', reason: 'reads the environment or other files', example: '$ENV' }],
    clean: '-r .name in.json',
  },
  {
    names: 'yq',
    style: 'exact',
    rows: [
      reachRow('-i --inplace --in-place', 'changes its files in place', '-i'),
      reachRow('-s --split-exp=TEXT', 'writes files', '-s .name'),
      hiddenRow('-f --from-file --split-exp-file=FILE', 'reads its program from a file', '--from-file x.yq'),
    ],
    texts: '-o --output-format -p --input-format -I --indent --arg',
    operands: { texts: 1, unless: '-f --from-file' },
    operandRows: [
      {
        like: /\b(?:load|load_str|load_xml|load_props|load_base64|env|strenv|envsubst|system)\b|\$ENV\b/,
        kind: 'reach',
        reason: 'reads the environment or other files',
        example: 'load("x")',
      },
    ],
    clean: '.name in.yaml',
  },
  {
    names: 'diff gdiff colordiff sdiff',
    rows: [
      reachRow('-l --paginate', 'starts a program that makes pages', '-l'),
      reachRow('--to-file --from-file=FILE', 'compares with a file', '--to-file=x'),
      reachRow('-X --exclude-from=FILE', 'reads names to leave out from a file', '-X names.txt'),
      reachRow('-o --output=FILE', 'writes a file', '-o out.txt'),
      hiddenRow('--diff-program=TEXT', 'runs another program', '--diff-program=./x'),
    ],
    texts:
      '-U -C -F --show-function-line -I --ignore-matching-lines --label -L -W --width -x --exclude -D --ifdef -S ' +
      '--starting-file --palette --line-format --tabsize --horizon-lines',
    maybes: '--color --unified --context',
    flags: '-u -c -a -b -B -d -e -E -i -n -N -p -q -r -s -t -T -w -y -Z --brief --recursive',
    operands: 'paths',
    clean: '-u a.txt b.txt',
  },
  {
    names: 'diff3',
    rows: [hiddenRow('--diff-program=TEXT', 'runs another program', '--diff-program=./x')],
    texts: '-L --label',
    operands: 'paths',
    clean: 'a.txt b.txt c.txt',
  },
  {
    names: 'patch',
    rows: [
      reachRow('-o --output=FILE', 'writes another file', '-o out.txt'),
      reachRow('-d --directory=FILE', 'works in another folder', '-d x'),
      reachRow('-r --reject-file=FILE', 'writes another file', '-r x'),
    ],
    texts: '-p --strip -F --fuzz -D -V -B -z -Y',
    files: '-i --input',
    operands: 'paths',
    implied: { kind: 'reach', reason: 'writes the files that its patch names', example: '-p1 -i x.patch' },
  },
  {
    names: 'split csplit',
    operands: 'paths',
    rows: [hiddenRow('--filter=TEXT', 'runs a program for every piece', '--filter=./x in.txt')],
    implied: { kind: 'reach', reason: 'writes files', example: 'in.txt' },
  },
  {
    names: 'iconv',
    rows: [reachRow('-o --output=FILE', 'writes a file', '-o out.txt')],
    texts: '-f --from-code -t --to-code',
    operands: 'paths',
    clean: '-f latin1 in.txt',
  },
  {
    names: 'shuf',
    rows: [
      reachRow('-o --output=FILE', 'writes a file', '-o out.txt'),
      reachRow('--random-source=FILE', 'reads random bytes from a file', '--random-source=x'),
    ],
    texts: '-n --head-count -i --input-range',
    operands: 'paths',
    clean: '-n 3 in.txt',
  },
]

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
