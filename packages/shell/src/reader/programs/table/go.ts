import { type HazardRow, hiddenRow, type ProgramTable, reachRow } from '../program-table.ts'

/** `-s -w`, `-X name=value`: what release builds ask of the linker. */
const OTHER_THAN_PLAIN_LINKING = /^(?!(?:all=)?\s*(?:-s|-w|-X[ =][^\s'"]+)(?:\s+(?:-s|-w|-X[ =][^\s'"]+))*\s*$)/
/** `-N -l`, `-m`: what debugging asks of the compiler. */
const OTHER_THAN_PLAIN_COMPILING = /^(?!(?:all=)?\s*(?:-[NlmSe]|-m=\d)(?:\s+(?:-[NlmSe]|-m=\d))*\s*$)/

const BUILD_ROWS: readonly HazardRow[] = [
  hiddenRow('-toolexec=TEXT', 'runs a program in place of every tool', '-toolexec ./x'),
  hiddenRow(
    '-ldflags=TEXT',
    'gives options to the linker, which may name a program',
    '-ldflags -extld=./x',
    OTHER_THAN_PLAIN_LINKING,
  ),
  hiddenRow('-gcflags=TEXT', 'gives options to the compiler', '-gcflags -o=x', OTHER_THAN_PLAIN_COMPILING),
  hiddenRow('-asmflags=TEXT', 'gives options to the assembler', '-asmflags -I=x'),
  hiddenRow('-gccgoflags=TEXT', 'gives options to another compiler', '-gccgoflags -B=x'),
  hiddenRow('-compiler=TEXT', 'uses another compiler', '-compiler gccgo'),
  hiddenRow('-overlay=FILE', 'reads other files in place of the sources', '-overlay x.json'),
  reachRow('-modfile=FILE', 'uses another go.mod', '-modfile x.mod'),
  reachRow('-mod=TEXT', 'changes go.mod and may fetch modules', '-mod=mod', /^mod$/),
  reachRow('-pkgdir=FILE', 'reads and writes packages in a folder', '-pkgdir x'),
  reachRow('-C=FILE', 'works in another folder', '-C ../x'),
  reachRow('-i', 'installs packages', '-i'),
  reachRow('-debug-trace -debug-actiongraph=FILE', 'writes a file', '-debug-trace x'),
  reachRow('-modcacherw', 'changes the module cache', '-modcacherw'),
  reachRow('-pgo=FILE', 'reads a profile', '-pgo=x.pgo', /^(?!auto$|off$)/),
]
const BUILD_TEXTS = '-p -covermode -coverpkg -buildmode -installsuffix -tags'
const BUILD_MAYBES = '-a -n -race -msan -asan -cover -v -work -x -linkshared -trimpath -buildvcs -json'

const WRITES_PROFILE = 'writes a profile to a file'
/** The flags of a test binary; `go test` takes them with and without the `test.` before them, the binary only with it. */
const TEST_ROWS: readonly HazardRow[] = [
  ...['-cpuprofile', '-memprofile', '-blockprofile', '-mutexprofile', '-coverprofile', '-trace'].map((name) =>
    reachRow(`${name} -test.${name.slice(1)}=FILE`, WRITES_PROFILE, `${name}=x.out`),
  ),
  reachRow('-outputdir -test.outputdir=FILE', 'writes into a folder', '-outputdir x'),
  reachRow('-testlogfile -test.testlogfile=FILE', 'writes a file', '-test.testlogfile=x'),
  reachRow('-gocoverdir -test.gocoverdir=FILE', 'writes into a folder', '-test.gocoverdir=x'),
  reachRow('-artifacts -test.artifacts', 'writes files', '-artifacts'),
  reachRow('-fuzz -test.fuzz=TEXT', 'continues until it is stopped, and writes what it finds', '-fuzz .'),
  reachRow('-fuzzcachedir -test.fuzzcachedir=FILE', 'writes into a folder', '-test.fuzzcachedir=x'),
]
const TEST_TEXTS = bothWays(
  '-run -skip -bench -benchtime -count -cpu -list -parallel -timeout -blockprofilerate -memprofilerate ' +
    '-mutexprofilefraction -fuzztime -fuzzminimizetime -vet -shuffle',
)
const TEST_MAYBES = bothWays('-short -failfast -benchmem -fullpath -paniconexit0')

/** go: building and testing run code of the project by nature; other tools, other sources and files are hazards. */
export const GO: readonly ProgramTable[] = [
  {
    names: 'go',
    style: 'words',
    commands: [
      {
        names: 'build',
        style: 'words',
        rows: [...BUILD_ROWS, reachRow('-o=FILE', 'writes the program to a place of choice', '-o x')],
        texts: BUILD_TEXTS,
        maybes: BUILD_MAYBES,
        isClosed: true,
        operands: 'paths',
        anyFiles: false,
        clean: '-race -tags=a,b -ldflags=-s ./...',
      },
      {
        names: 'test',
        style: 'words',
        rows: [
          ...BUILD_ROWS,
          ...TEST_ROWS,
          hiddenRow('-exec=TEXT', 'runs a program in place of every test', '-exec ./x'),
          reachRow('-o=FILE', 'writes the test program to a file', '-o x'),
          reachRow('-c', 'writes the test program to a file', '-c'),
        ],
        texts: `${BUILD_TEXTS} ${TEST_TEXTS}`,
        maybes: `${BUILD_MAYBES} ${TEST_MAYBES} -test.v -args`,
        isClosed: true,
        operands: 'paths',
        anyFiles: false,
        clean: '-v -count=1 -run X -race ./...',
      },
      {
        names: 'vet',
        style: 'words',
        rows: [
          ...BUILD_ROWS,
          hiddenRow('-vettool=TEXT', 'runs another program', '-vettool ./x'),
          reachRow('-fix', 'changes the sources', '-fix'),
        ],
        texts: BUILD_TEXTS,
        maybes: BUILD_MAYBES,
        operands: 'paths',
        anyFiles: false,
        clean: './...',
      },
      {
        names: 'list',
        style: 'words',
        rows: [
          ...BUILD_ROWS,
          reachRow('-u', 'asks for newer modules', '-u'),
          reachRow('-versions', 'asks for modules', '-versions'),
        ],
        texts: `${BUILD_TEXTS} -f -reuse`,
        maybes: `${BUILD_MAYBES} -m -deps -test -find -e -export -compiled -retracted`,
        operands: 'paths',
        anyFiles: false,
        clean: '-m all',
      },
      {
        names: 'env',
        style: 'words',
        rows: [
          reachRow('-w', 'changes the settings of go', '-w GOFLAGS=-x'),
          reachRow('-u', 'changes the settings of go', '-u GOFLAGS'),
        ],
        operands: 'texts',
        clean: 'GOPATH',
      },
      { names: 'version doc help', style: 'words', clean: '' },
      {
        names: 'fmt fix clean',
        style: 'words',
        rows: BUILD_ROWS,
        operands: 'paths',
        implied: { kind: 'reach', reason: 'changes or deletes files', example: './...' },
      },
      {
        names: 'run tool',
        style: 'words',
        rows: [...BUILD_ROWS, hiddenRow('-exec=TEXT', 'runs a program in place of the one it built', '-exec ./x')],
        stopsAtOperand: true,
        operands: 'paths',
        operandRows: [{ to: 1, kind: 'hidden', reason: 'is a program that runs', example: './cmd/x' }],
      },
      {
        names: 'generate',
        style: 'words',
        rows: BUILD_ROWS,
        operands: 'paths',
        implied: { kind: 'hidden', reason: 'runs the commands in the sources', example: './...' },
      },
      {
        names: 'get install mod work bug telemetry',
        style: 'words',
        rows: BUILD_ROWS,
        implied: { kind: 'reach', reason: 'may fetch modules or change files', example: 'tidy' },
      },
    ],
    otherwise: { kind: 'hidden', reason: 'is a command of go that is not known', example: 'buildx' },
    clean: 'version',
  },
  {
    names: 'gofmt goimports gofumpt',
    style: 'words',
    rows: [
      reachRow('-w', 'changes its files in place', '-w'),
      reachRow('-cpuprofile=FILE', 'writes a file', '-cpuprofile x'),
    ],
    texts: '-r -local -srcdir',
    operands: 'paths',
    clean: '-l .',
  },
  {
    names: 'golangci-lint',
    style: 'exact',
    rows: [
      hiddenRow('-c --config=FILE', 'uses another configuration', '-c x.yml'),
      reachRow('--fix', 'changes the sources', '--fix'),
      reachRow('--cpu-profile-path --mem-profile-path --trace-path=FILE', 'writes a file', '--trace-path=x'),
    ],
    operands: 'paths',
    clean: 'run ./...',
  },
]

function bothWays(names: string): string {
  return names.replaceAll(/-(\S+)/g, '-$1 -test.$1')
}
