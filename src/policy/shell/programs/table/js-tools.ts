import type { ProgramTable } from '../program-table.ts'
import { hidden, reach } from '../row.ts'

const OTHER_CONFIG = 'uses another configuration, which may be code'

/** Checkers, formatters and test runners of JavaScript projects: the project's own configuration goes with their name. */
export const JS_TOOLS: readonly ProgramTable[] = [
  {
    names: 'tsc vue-tsc',
    style: 'words',
    rows: [
      reach(
        '-outDir -outFile -declarationDir -tsBuildInfoFile -out -rootDir=FILE',
        'writes to a place of choice',
        '--outDir x',
      ),
      reach('-generateTrace -generateCpuProfile=FILE', 'writes files', '--generateTrace x'),
      reach('-b -build', 'builds other projects', '-b'),
      reach('-init', 'writes a configuration', '--init'),
      reach('-w -watch', 'waits for changes and never ends', '-w'),
      hidden('-plugins=TEXT', 'loads code', '--plugins x'),
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
      hidden('-c --config=FILE', OTHER_CONFIG, '-c x.js'),
      hidden('--rulesdir --resolve-plugins-relative-to=FILE', 'loads code', '--rulesdir x'),
      hidden('--plugin --parser=TEXT', 'loads code', '--plugin x'),
      hidden('-f --format=TEXT', 'loads code that formats', '-f ./x.js', /[/.\\]/),
      reach('-o --output-file=FILE', 'writes a file', '-o x.txt'),
      reach('--fix', 'changes the sources', '--fix'),
      reach('--cache-location --cache-file=FILE', 'writes a file', '--cache-location=x'),
      reach('--ignore-path --suppressions-location=FILE', 'reads a file', '--ignore-path=x'),
      reach('--init', 'writes a configuration', '--init'),
      hidden('--flag=TEXT', 'turns on what is not yet stable', '--flag x'),
    ],
    texts: '--ext --rule --env --global --ignore-pattern --max-warnings --parser-options --cache-strategy',
    operands: 'paths',
    clean: '--ext .ts src',
  },
  {
    names: 'prettier',
    style: 'exact',
    rows: [
      hidden('--plugin --plugin-search-dir=TEXT', 'loads code', '--plugin=./x'),
      hidden('--config --find-config-path=FILE', OTHER_CONFIG, '--config x.js'),
      reach('-w --write', 'changes its files in place', '--write'),
      reach('--ignore-path --cache-location=FILE', 'reads or writes a file', '--ignore-path=x'),
    ],
    texts: '--parser --print-width --tab-width --end-of-line --log-level --stdin-filepath',
    operands: 'paths',
    clean: '--check src',
  },
  {
    names: 'biome',
    style: 'exact',
    rows: [
      reach('--write --fix --apply --unsafe --apply-unsafe', 'changes its files in place', '--write'),
      reach('--config-path=FILE', 'uses another configuration', '--config-path=x'),
      reach('--reporter-file --log-path=FILE', 'writes a file', '--reporter-file=x'),
    ],
    operands: 'guess',
    clean: 'check src',
  },
  {
    names: 'vitest jest mocha ava playwright',
    style: 'exact',
    rows: [
      hidden('-c --config=FILE', OTHER_CONFIG, '--config x.js'),
      hidden('-r --root --rootDir --dir=FILE', 'tests another project', '--root ../x'),
      hidden(
        '--require --import --setupFiles --setupFilesAfterEnv --globalSetup --globalTeardown=FILE',
        'loads code',
        '--require ./x',
      ),
      hidden(
        '--environment --env --runner --testRunner --transform --resolver --preset --pool=TEXT',
        'may load code',
        '--env=./x',
        /[/.\\]/,
      ),
      hidden('--reporter --reporters=TEXT', 'loads code that reports', '--reporter=./x.js', /[/\\]|\.\w+$/),
      hidden('--loader --node-option -n --execArgv=TEXT', 'gives options to node', '--loader=./x'),
      reach('-u --update --updateSnapshot', 'writes snapshots', '-u'),
      reach('--outputFile --json-output --cacheDirectory --coverageDirectory=FILE', 'writes a file', '--outputFile=x'),
      reach('-w --watch --watchAll', 'waits for changes and never ends', '--watch'),
      reach('--ui --api --inspect --inspect-brk --inspectBrk[=TEXT]', 'opens a port', '--ui'),
      reach('--clearCache', 'deletes files', '--clearCache'),
    ],
    texts: '-t --testNamePattern --grep -g --shard --maxWorkers --project',
    flags: '--run --coverage --watchAll=false --ci --bail --verbose --silent --passWithNoTests',
    operands: 'guess',
    clean: 'run src -t name',
  },
]
