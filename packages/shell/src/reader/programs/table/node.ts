import { hiddenRow, type ProgramTable, reachRow } from '../program-table.ts'

const SCRIPT = 'is a program that runs, whatever it holds'
const STDIN = 'runs the program that is piped to it'

/** node and its like: a file they run can hold anything, so only what runs nothing is harmless. */
export const NODE: readonly ProgramTable[] = [
  {
    names: 'node nodejs',
    isVersioned: true,
    style: 'exact',
    rows: [
      hiddenRow('-e --eval=TEXT', 'is a program in another language', '-e 1'),
      hiddenRow('-p --print[=TEXT]', 'is a program in another language', '-p 1'),
      hiddenRow('-r --require=FILE', 'loads code', '-r ./x.js'),
      hiddenRow('--import=FILE', 'loads code', '--import ./x.js'),
      hiddenRow('--loader --experimental-loader --es-module-loader=FILE', 'loads code', '--loader ./x.js'),
      hiddenRow('-i --interactive', 'runs what is typed to it', '-i'),
      hiddenRow(
        '--inspect --inspect-brk --inspect-wait --inspect-port --debug-port[=TEXT]',
        'opens a debugger',
        '--inspect',
      ),
      hiddenRow('--run=TEXT', 'runs a script of package.json', '--run build'),
      hiddenRow('--test[=TEXT]', 'runs every test file it finds', '--test'),
      hiddenRow('--watch --watch-path[=TEXT]', 'runs again when files change and never ends', '--watch'),
      hiddenRow('-C --conditions=TEXT', 'loads other files of packages', '-C x'),
      hiddenRow('--env-file --env-file-if-exists=FILE', 'reads the environment from a file', '--env-file=x'),
      hiddenRow('--openssl-config --openssl-shared-config --icu-data-dir=FILE', 'reads a file', '--openssl-config=x'),
      hiddenRow(
        '--snapshot-blob --build-snapshot-config --experimental-sea-config=FILE',
        'loads code',
        '--snapshot-blob x',
      ),
      hiddenRow(
        '--experimental-config-file --experimental-default-config-file[=FILE]',
        'reads options from a file',
        '--experimental-config-file=x',
      ),
      hiddenRow('--test-reporter --test-global-setup=FILE', 'loads code', '--test-reporter ./x.js'),
      reachRow(
        '--test-reporter-destination --diagnostic-dir --report-dir --report-directory=FILE',
        'writes a file',
        '--report-dir=x',
      ),
      reachRow(
        '--cpu-prof --heap-prof --prof --report-on-fatalerror --trace-event-categories[=TEXT]',
        'writes files',
        '--cpu-prof',
      ),
      reachRow(
        '--redirect-warnings --cpu-prof-dir --heap-prof-dir --tls-keylog=FILE',
        'writes a file',
        '--redirect-warnings=x',
      ),
      reachRow(
        '--allow-fs-read --allow-fs-write --allow-child-process --allow-addons[=TEXT]',
        'widens what code may do',
        '--allow-fs-read=/',
      ),
    ],
    flags: '-v --version -h --help --v8-options -c --check --no-warnings --test-only',
    texts: '--stack-trace-limit --unhandled-rejections --dns-result-order --title --input-type',
    stopsAtOperand: true,
    operands: 'paths',
    operandRows: [{ to: 1, unless: '-c --check', kind: 'hidden', reason: SCRIPT, example: 'x.js' }],
    implied: {
      unless: '-v --version -h --help --v8-options -e --eval -p --print --run --test',
      unlessOperands: true,
      isUnnamed: true,
      kind: 'hidden',
      reason: STDIN,
      example: '',
    },
    clean: '--version',
  },
  {
    names: 'tsx ts-node esno bun bunx deno',
    style: 'exact',
    projectFiles: 'package.json deno.json deno.jsonc',
    flags: '-v --version -h --help -V',
    rows: [hiddenRow('-e --eval -p --print=TEXT', 'is a program in another language', '-e 1')],
    stopsAtOperand: true,
    operandRows: [{ to: 1, kind: 'hidden', reason: 'is a program that runs, or names one', example: 'x.ts' }],
    implied: {
      unless: '-v --version -h --help -V -e --eval -p --print',
      unlessOperands: true,
      isUnnamed: true,
      kind: 'hidden',
      reason: STDIN,
      example: '',
    },
    clean: '--version',
  },
]

const OTHER_CONFIG = 'uses another configuration, which may be code'

/** Checkers, formatters and test runners of JavaScript projects: the project's own configuration goes with their name. */
export const JS_TOOLS: readonly ProgramTable[] = [
  {
    names: 'tsc vue-tsc',
    style: 'words',
    rows: [
      reachRow(
        '-outDir -outFile -declarationDir -tsBuildInfoFile -out -rootDir=FILE',
        'writes to a place of choice',
        '--outDir x',
      ),
      reachRow('-generateTrace -generateCpuProfile=FILE', 'writes files', '--generateTrace x'),
      reachRow('-b -build', 'builds other projects', '-b'),
      reachRow('-init', 'writes a configuration', '--init'),
      reachRow('-w -watch', 'waits for changes and never ends', '-w'),
      hiddenRow('-plugins=TEXT', 'loads code', '--plugins x'),
    ],
    maybes: '-noEmit -v -version -h -help -showConfig -listFiles -strict -skipLibCheck -pretty',
    texts: '-target -t -module -m -lib -jsx -moduleResolution',
    files: '-p -project',
    operands: 'paths',
    operandRows: [
      { like: /^@/, kind: 'reach', reason: 'reads its options from a file', example: '@args' },
      { like: /^(?:false|null)$/i, kind: 'reach', reason: 'turns an option off, maybe -noEmit', example: 'false' },
    ],
    implied: {
      unless: '-noEmit -v -version -h -help -showConfig',
      kind: 'reach',
      reason: 'writes what it compiles',
      example: 'x.ts',
    },
    clean: '--noEmit --strict x.ts',
  },
  {
    names: 'eslint',
    projectFiles:
      'eslint.config.js eslint.config.mjs eslint.config.cjs eslint.config.ts .eslintrc .eslintrc.js .eslintrc.cjs .eslintrc.json .eslintrc.yml .eslintrc.yaml',
    style: 'exact',
    rows: [
      hiddenRow('-c --config=FILE', OTHER_CONFIG, '-c x.js'),
      hiddenRow('--rulesdir --resolve-plugins-relative-to=FILE', 'loads code', '--rulesdir x'),
      hiddenRow('--plugin --parser=TEXT', 'loads code', '--plugin x'),
      hiddenRow('-f --format=TEXT', 'loads code that formats', '-f ./x.js', /[/.\\]/),
      reachRow('-o --output-file=FILE', 'writes a file', '-o x.txt'),
      reachRow('--fix', 'changes the sources', '--fix'),
      reachRow('--cache-location --cache-file=FILE', 'writes a file', '--cache-location=x'),
      reachRow('--ignore-path --suppressions-location=FILE', 'reads a file', '--ignore-path=x'),
      reachRow('--init', 'writes a configuration', '--init'),
      hiddenRow('--flag=TEXT', 'turns on what is not yet stable', '--flag x'),
    ],
    texts: '--ext --rule --env --global --ignore-pattern --max-warnings --parser-options --cache-strategy',
    operands: 'paths',
    clean: '--ext .ts src',
  },
  {
    names: 'prettier',
    style: 'exact',
    rows: [
      hiddenRow('--plugin --plugin-search-dir=TEXT', 'loads code', '--plugin=./x'),
      hiddenRow('--config --find-config-path=FILE', OTHER_CONFIG, '--config x.js'),
      reachRow('-w --write', 'changes its files in place', '--write'),
      reachRow('--ignore-path --cache-location=FILE', 'reads or writes a file', '--ignore-path=x'),
    ],
    texts: '--parser --print-width --tab-width --end-of-line --log-level --stdin-filepath',
    operands: 'paths',
    clean: '--check src',
  },
  {
    names: 'biome',
    style: 'exact',
    rows: [
      reachRow('--write --fix --apply --unsafe --apply-unsafe', 'changes its files in place', '--write'),
      reachRow('--config-path=FILE', 'uses another configuration', '--config-path=x'),
      reachRow('--reporter-file --log-path=FILE', 'writes a file', '--reporter-file=x'),
    ],
    clean: 'check src',
  },
  {
    names: 'vitest jest mocha ava playwright',
    projectFiles:
      'vitest.config.ts vitest.config.js vitest.config.mts vite.config.ts vite.config.js jest.config.js jest.config.ts jest.config.cjs jest.config.mjs .mocharc.js .mocharc.cjs ava.config.js playwright.config.ts playwright.config.js',
    style: 'exact',
    rows: [
      hiddenRow('-c --config=FILE', OTHER_CONFIG, '--config x.js'),
      hiddenRow('-r --root --rootDir --dir=FILE', 'tests another project', '--root ../x'),
      hiddenRow(
        '--require --import --setupFiles --setupFilesAfterEnv --globalSetup --globalTeardown=FILE',
        'loads code',
        '--require ./x',
      ),
      hiddenRow(
        '--environment --env --runner --testRunner --transform --resolver --preset --pool=TEXT',
        'may load code',
        '--env=./x',
        /[/.\\]/,
      ),
      hiddenRow('--reporter --reporters=TEXT', 'loads code that reports', '--reporter=./x.js', /[/\\]|\.\w+$/),
      hiddenRow('--loader --node-option -n --execArgv=TEXT', 'gives options to node', '--loader=./x'),
      reachRow('-u --update --updateSnapshot', 'writes snapshots', '-u'),
      reachRow(
        '--outputFile --json-output --cacheDirectory --coverageDirectory=FILE',
        'writes a file',
        '--outputFile=x',
      ),
      reachRow('-w --watch --watchAll', 'waits for changes and never ends', '--watch'),
      reachRow('--ui --api --inspect --inspect-brk --inspectBrk[=TEXT]', 'opens a port', '--ui'),
      reachRow('--clearCache', 'deletes files', '--clearCache'),
    ],
    texts: '-t --testNamePattern --grep -g --shard --maxWorkers --project',
    flags: '--run --coverage --watchAll=false --ci --bail --verbose --silent --passWithNoTests',
    clean: 'run src -t name',
  },
]

const FETCHES = 'fetches packages, and their scripts run'
const PACKAGE_FILES = 'package.json .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs pnpm-workspace.yaml binding.gyp'
const PACKAGE = 'is a program of a package, fetched when it is missing'

/** npm and its like: the scripts of the project are what `npm test` and `npm run` mean; other settings and packages are not. */
export const NPM: readonly ProgramTable[] = [
  {
    names: 'npm',
    projectFiles: PACKAGE_FILES,
    isInherited: true,
    isDashBlind: true,
    rows: [
      hiddenRow('--script-shell --shell=TEXT', 'runs scripts with another program', '--script-shell=./x'),
      hiddenRow('--node-options=TEXT', 'gives options to node, which may load code', '--node-options=--require=./x'),
      hiddenRow('--git --editor --viewer --browser=TEXT', 'runs another program', '--git=./x'),
      reachRow('-C --prefix --local-prefix=FILE', 'works in another folder', '--prefix ../x'),
      hiddenRow('--userconfig --globalconfig=FILE', 'reads its settings from a file', '--userconfig=x'),
      reachRow('--cache --logs-dir --tmp=FILE', 'writes into a folder', '--cache=x'),
      reachRow('--registry=TEXT', 'takes packages from another place', '--registry=https://example.com'),
      reachRow(
        '--proxy --https-proxy --http-proxy --noproxy=TEXT',
        'sends everything through another machine',
        '--proxy=http://x',
      ),
      reachRow('--cafile --cert --key --ca=FILE', 'trusts other keys', '--cafile=x'),
      hiddenRow('--init-module=FILE', 'runs a script', '--init-module=./x.js'),
      reachRow('-g --global', 'works on the packages of the machine', '-g'),
      reachRow('--location=TEXT', 'works on the packages of the machine', '--location=global', /^(?!project$)/),
      reachRow('--pack-destination --diff-dst-prefix=FILE', 'writes into a folder', '--pack-destination=x'),
      hiddenRow('--onload-script=FILE', 'loads code', '--onload-script=./x.js'),
      hiddenRow('-c --call=TEXT', 'runs a command line', '--call=id'),
    ],
    maybes: '--ignore-scripts',
    texts: '-w --workspace --loglevel --depth --omit --include --otp --tag --scope',
    flags:
      '-s --silent -d -dd --verbose --if-present --workspaces -ws --json --long -l --offline --prefer-offline --no-color ' +
      '--no-audit --no-fund --version -v --help -h --all -a --production --dry-run --parseable -p --no-progress --quiet',
    commands: [
      {
        names: 'test t tst run run-script rum urn start stop restart',
        clean: '-s unit -- --grep x',
      },
      {
        names: 'ls list la ll outdated why explain root bin help version-info get prefix query fund',
        operands: 'texts',
        clean: '--all',
      },
      {
        names:
          'install i in ins inst insta instal isnt isntall add ci clean-install ic update up upgrade install-test it cit rebuild rb link ln',
        implied: { kind: 'reach', reason: FETCHES, example: 'left-pad' },
      },
      {
        names: 'exec x init create innit',
        stopsAtOperand: true,
        carries: 'operand',
        operandRows: [{ to: 1, kind: 'hidden', reason: PACKAGE, example: 'x' }],
      },
      {
        names:
          'publish unpublish login adduser logout token owner access dist-tag deprecate audit view info show search whoami ping',
        risk: { publish: 'publishes', unpublish: 'publishes' },
        implied: { kind: 'reach', reason: 'reaches the registry', example: 'x' },
      },
      {
        names: 'config c set pkg edit version uninstall un remove rm r unlink prune dedupe pack shrinkwrap cache',
        implied: { kind: 'reach', reason: 'changes settings or files', example: 'set x y' },
      },
    ],
    otherwise: { kind: 'hidden', reason: 'is a command of npm that is not known', example: 'xyz' },
    clean: 'test',
  },
  {
    names: 'npx pnpx dlx',
    rows: [hiddenRow('-c --call=TEXT', 'runs a command line', '-c id')],
    stopsAtOperand: true,
    carries: 'operand',
    operandRows: [{ to: 1, kind: 'hidden', reason: PACKAGE, example: 'x' }],
  },
  {
    names: 'yarn pnpm',
    projectFiles: PACKAGE_FILES,
    isInherited: true,
    isDashBlind: true,
    style: 'exact',
    rows: [
      reachRow('-C --cwd --dir --prefix=FILE', 'works in another folder', '--cwd ../x'),
      hiddenRow('--script-shell --shell-emulator=TEXT', 'runs scripts with another program', '--script-shell=./x'),
      hiddenRow('--node-options=TEXT', 'gives options to node, which may load code', '--node-options=x'),
      hiddenRow('--use-yarnrc --config=FILE', 'reads its settings from a file', '--use-yarnrc=x'),
      reachRow('--registry=TEXT', 'takes packages from another place', '--registry=https://example.com'),
      reachRow(
        '--modules-folder --cache-folder --store-dir --global-folder --virtual-store-dir=FILE',
        'uses another folder',
        '--store-dir=x',
      ),
      reachRow('-g --global', 'works on the packages of the machine', '-g'),
      hiddenRow('-c --shell-mode', 'runs a command line', '-c'),
    ],
    texts: '--filter -F --loglevel --reporter',
    flags: '-s --silent -r --recursive --offline -v --version --json',
    commands: [
      { names: 'test t run start', clean: 'unit' },
      { names: 'ls list why outdated licenses bin root', operands: 'texts' },
      {
        names: 'exec dlx create node',
        stopsAtOperand: true,
        carries: 'operand',
        operandRows: [{ to: 1, kind: 'hidden', reason: PACKAGE, example: 'x' }],
      },
    ],
    implied: { unlessOperands: true, unless: '-v --version', kind: 'reach', reason: FETCHES, example: '' },
    // An unknown command is the name of a script of the project or of a program of a package.
    otherwise: { kind: 'hidden', reason: 'fetches, publishes or runs a program', example: 'add left-pad' },
    clean: 'test',
  },
]
