import type { ProgramTable } from '../program-table.ts'
import { hiddenRow, reachRow } from '../row.ts'

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
    flags: '-v --version -h --help -V',
    rows: [hiddenRow('-e --eval -p --print=TEXT', 'is a program in another language', '-e 1')],
    stopsAtOperand: true,
    operands: 'guess',
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
