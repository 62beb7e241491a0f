import { hiddenRow, type ProgramTable, reachRow } from '../program-table.ts'

const FETCHES = 'fetches packages, and their scripts run'
const PACKAGE = 'is a program of a package, fetched when it is missing'

/** npm and its like: the scripts of the project are what `npm test` and `npm run` mean; other settings and packages are not. */
export const NPM: readonly ProgramTable[] = [
  {
    names: 'npm',
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
        operands: 'guess',
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
        operands: 'guess',
        implied: { kind: 'reach', reason: FETCHES, example: 'left-pad' },
      },
      {
        names: 'exec x init create innit',
        stopsAtOperand: true,
        carries: 'operand',
        operands: 'guess',
        operandRows: [{ to: 1, kind: 'hidden', reason: PACKAGE, example: 'x' }],
      },
      {
        names:
          'publish unpublish login adduser logout token owner access dist-tag deprecate audit view info show search whoami ping',
        risk: { publish: 'publishes', unpublish: 'publishes' },
        operands: 'guess',
        implied: { kind: 'reach', reason: 'reaches the registry', example: 'x' },
      },
      {
        names: 'config c set pkg edit version uninstall un remove rm r unlink prune dedupe pack shrinkwrap cache',
        operands: 'guess',
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
    operands: 'guess',
    operandRows: [{ to: 1, kind: 'hidden', reason: PACKAGE, example: 'x' }],
  },
  {
    names: 'yarn pnpm',
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
      { names: 'test t run start', operands: 'guess', clean: 'unit' },
      { names: 'ls list why outdated licenses bin root', operands: 'texts' },
      {
        names: 'exec dlx create node',
        stopsAtOperand: true,
        carries: 'operand',
        operands: 'guess',
        operandRows: [{ to: 1, kind: 'hidden', reason: PACKAGE, example: 'x' }],
      },
    ],
    implied: { unlessOperands: true, unless: '-v --version', kind: 'reach', reason: FETCHES, example: '' },
    // An unknown command is the name of a script of the project or of a program of a package.
    otherwise: { kind: 'hidden', reason: 'fetches, publishes or runs a program', example: 'add left-pad' },
    clean: 'test',
  },
]
