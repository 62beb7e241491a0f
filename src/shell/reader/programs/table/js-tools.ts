import type { ProgramTable } from '../program-table.ts'
import { hiddenRow, reachRow } from '../row.ts'

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
    operands: 'guess',
    clean: 'check src',
  },
  {
    names: 'vitest jest mocha ava playwright',
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
    operands: 'guess',
    clean: 'run src -t name',
  },
]
