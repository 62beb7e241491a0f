import { hiddenRow, type ImpliedRow, type OperandRow, type ProgramTable, reachRow } from '../program-table.ts'

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
    operandRows: [{ ...FILE, reason: 'is a script that runs, whatever it holds' }],
    implied: { ...PIPED, reason: 'runs the script that is piped to it' },
    clean: '--version',
  },
  {
    names: 'source . eval',
    style: 'none',
    operandRows: [{ to: 1, kind: 'hidden', reason: 'is a script that runs in the shell itself', example: './x.sh' }],
  },
]

const CHECKER_ROWS = [
  hiddenRow(
    '-c --config --config-file --rcfile --append-config --settings-path --settings-file=FILE',
    'uses another configuration',
    '--config=x',
  ),
  hiddenRow('--load-plugins --init-hook --python-executable=TEXT', 'runs code', '--init-hook=x'),
  reachRow('--fix --unsafe-fixes --fix-only --add-noqa', 'changes the sources', '--fix'),
  reachRow('-o --output --output-file --tee --junit-xml --cache-dir=FILE', 'writes a file', '--output=x'),
  reachRow('--install-types', 'fetches packages', '--install-types'),
]

/** Python, its packages and its checkers. */
export const PYTHON: readonly ProgramTable[] = [
  {
    names: 'python pypy ipython bpython',
    isVersioned: true,
    style: 'exact',
    rows: [
      hiddenRow('-c=TEXT', 'is a program in another language', '-c 1'),
      hiddenRow('-m=TEXT', 'runs a module, found in the folder first', '-m http.server'),
      hiddenRow('-i', 'runs what is typed to it', '-i'),
      hiddenRow('-X=TEXT', 'sets how it runs', '-X importtime'),
      hiddenRow('-W=TEXT', 'may load a module', '-W error::x.Y', /\./),
      hiddenRow('--check-hash-based-pycs=TEXT', 'chooses which compiled files run', '--check-hash-based-pycs never'),
    ],
    flags: '-V -VV --version -h --help -B -E -I -O -s -S -u -v -q -b -d -P -x',
    stopsAtOperand: true,
    carries: '-m',
    operands: 'paths',
    operandRows: [
      { to: 1, unless: '-c -m', kind: 'hidden', reason: 'is a program that runs, whatever it holds', example: 'x.py' },
    ],
    implied: {
      unless: '-V -VV --version -h --help -c -m',
      unlessOperands: true,
      isUnnamed: true,
      kind: 'hidden',
      reason: 'runs the program that is piped to it',
      example: '',
    },
    clean: '--version',
  },
  {
    names: 'pip pipx uv poetry pipenv conda mamba pdm hatch tox nox',
    projectFiles: 'pyproject.toml setup.py setup.cfg requirements.txt tox.ini noxfile.py Pipfile uv.toml',
    isVersioned: true,
    isInherited: true,
    rows: [
      hiddenRow('--python=TEXT', 'uses another interpreter', '--python=./x'),
      reachRow(
        '--log --cache-dir --directory --project --prefix --root --target=FILE',
        'uses another place',
        '--log=x',
      ),
      reachRow(
        '-i --index-url --extra-index-url --proxy --trusted-host=TEXT',
        'takes packages from another place',
        '-i https://example.com',
      ),
      hiddenRow('--config-file --config-settings=TEXT', 'sets how packages are built', '--config-file=x'),
    ],
    flags: '-V --version -h --help -q -v',
    commands: [
      { names: 'list freeze show check help version inspect debug', operands: 'texts' },
      {
        names: 'run exec tool x',
        stopsAtOperand: true,
        carries: 'operand',
        operandRows: [{ to: 1, kind: 'hidden', reason: 'is a program that runs', example: 'x' }],
      },
    ],
    otherwise: { kind: 'reach', reason: 'fetches packages or runs their code', example: 'install x' },
    clean: 'list',
  },
  {
    names: 'uvx',
    stopsAtOperand: true,
    carries: 'operand',
    operandRows: [{ to: 1, kind: 'hidden', reason: 'is a program that is fetched and runs', example: 'x' }],
    clean: '--version',
  },
  {
    names: 'pytest py.test',
    rows: [
      hiddenRow('-c --config-file=FILE', 'uses another configuration', '-c x.ini'),
      hiddenRow('-p=TEXT', 'loads a plugin', '-p x'),
      hiddenRow('-o --override-ini=TEXT', 'sets a configuration value', '-o python_files=x'),
      hiddenRow(
        '--confcutdir --rootdir --import-mode=FILE',
        'loads configuration from another folder',
        '--rootdir=../x',
      ),
      reachRow('--basetemp=FILE', 'deletes and writes a folder', '--basetemp=x'),
      reachRow('--junitxml --junit-xml --resultlog --log-file --report-log=FILE', 'writes a file', '--junitxml=x'),
      reachRow(
        '--html --css --csv --md-report-output --json-report-file --alluredir=FILE',
        'writes a file',
        '--html=x',
      ),
      reachRow('--debug[=FILE]', 'writes a file', '--debug=x'),
      reachRow('--cov-report=TEXT', 'writes files', '--cov-report=html:x', /^(?!term|$)/),
      reachRow('--pastebin=TEXT', 'sends the results to a service', '--pastebin=all'),
      reachRow('--cov-config=FILE', 'uses another configuration', '--cov-config=x'),
      hiddenRow('--pdbcls=TEXT', 'loads code', '--pdbcls=x:Y'),
      hiddenRow('--pdb --trace', 'runs what is typed to it', '--pdb'),
    ],
    texts:
      '-k -m -n -r --maxfail --tb --durations --durations-min --deselect -W --capture --color --log-level --verbosity ' +
      '--log-cli-level --timeout --numprocesses --dist --show-capture --code-highlight --cov-fail-under --reruns',
    files: '--ignore --ignore-glob',
    maybes: '--cov',
    flags:
      '-x -v -q -s -l -h -V --lf --ff --last-failed --failed-first --co --collect-only --stepwise --no-header --no-summary ' +
      '--exitfirst --verbose --quiet --showlocals --sw --sw-skip --stepwise-skip --nf --new-first --no-cov --strict ' +
      '--strict-markers --strict-config --disable-warnings --disable-pytest-warnings --markers --fixtures --version --help ' +
      '--full-trace --runxfail --doctest-modules --setup-show --setup-only --setup-plan --cov-branch --no-cov-on-fail ' +
      '--cache-show --cache-clear --noconftest --pyargs --asyncio-mode',
    isClosed: true,
    operands: 'paths',
    anyFiles: false,
    operandRows: [{ like: /^@/, kind: 'reach', reason: 'reads its options from a file', example: '@args' }],
    clean: '-x -k name tests/',
  },
  { names: 'mypy pyright flake8 pylint black isort', rows: CHECKER_ROWS, operands: 'paths', clean: 'src/' },
  { names: 'ruff', rows: CHECKER_ROWS, operands: { texts: 1 }, clean: 'check src/' },
]
