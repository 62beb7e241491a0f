import type { ProgramTable } from '../program-table.ts'
import { hidden, reach } from '../row.ts'

/** Programs that build by the rules of a file of the project: those rules are what is allowed with the name. */
export const MAKE: readonly ProgramTable[] = [
  {
    names: 'make gmake bmake',
    rows: [
      hidden('-f --file --makefile=FILE', 'reads other rules', '-f other.mk'),
      reach('-C --directory=FILE', 'works in another folder, by the rules there', '-C ../x'),
      hidden('-I --include-dir=FILE', 'takes included rules from another folder', '-I x'),
      hidden('-E --eval=TEXT', 'adds rules', '--eval=x:;id'),
      reach('-e --environment-overrides', 'lets the environment win over the file', '-e'),
      hidden('-D=TEXT', 'sets a variable', '-D X'),
      hidden('-m=FILE', 'takes included rules from another folder', '-m x'),
      hidden('--jobserver-auth --jobserver-fds=TEXT', 'uses descriptors of another program', '--jobserver-auth=3,4'),
    ],
    files: '-o --old-file --assume-old -W --what-if --new-file --assume-new',
    maybes: '-j --jobs -l --load-average --max-load -O --output-sync --debug --shuffle',
    flags:
      '-n --just-print --dry-run --recon -s --silent --quiet -k --keep-going -B --always-make -q --question -d -i ' +
      '--ignore-errors -p --print-data-base -r --no-builtin-rules -R -t --touch -v --version -w --print-directory --trace -h -S',
    operands: 'texts',
    operandRows: [{ like: /=/, kind: 'hidden', reason: 'sets a variable, and many are commands', example: 'CC=./x' }],
    clean: '-j4 -s test',
  },
  {
    names: 'just task rake',
    rows: [
      hidden('-f --justfile --taskfile --rakefile=FILE', 'reads other rules', '-f x'),
      reach('-d --working-directory --dir=FILE', 'works in another folder', '-d x'),
      hidden('-e --execute --eval=TEXT', 'runs code', '-e x'),
      hidden('--shell=TEXT', 'runs another shell', '--shell=./x'),
      hidden('-c --command=TEXT', 'runs a program', '-c ./x'),
      hidden('-r --require=FILE', 'loads code', '-r ./x'),
    ],
    operands: 'texts',
    operandRows: [{ like: /=/, kind: 'hidden', reason: 'sets a variable', example: 'X=./x' }],
    clean: 'test',
  },
  {
    names: 'ninja',
    rows: [
      hidden('-f=FILE', 'reads other rules', '-f x.ninja'),
      reach('-C=FILE', 'works in another folder', '-C out'),
      reach('-t=TEXT', 'starts one of its tools', '-t clean'),
    ],
    texts: '-j -k -l -d -w',
    operands: 'texts',
    clean: '-j4 all',
  },
  {
    names: 'cmake ctest cpack meson bazel buck scons ant',
    rows: [
      hidden('-P=FILE', 'runs a script', '-P x.cmake'),
      hidden('-E=TEXT', 'runs a command', '-E rm x'),
      hidden('-S --script=FILE', 'runs a script', '-S x'),
    ],
    implied: { kind: 'hidden', reason: 'runs what its files say, and writes', example: '.' },
  },
  {
    names: 'gradle gradlew',
    style: 'exact',
    rows: [
      hidden('-b --build-file=FILE', 'reads other rules', '-b x.gradle'),
      hidden('-I --init-script=FILE', 'runs a script', '-I x.gradle'),
      hidden('-c --settings-file=FILE', 'reads other settings', '-c x.gradle'),
      reach('-p --project-dir=FILE', 'builds another project', '-p ../x'),
      hidden('-D --system-prop=TEXT', 'sets a property', '-Dx=y'),
      hidden('-P --project-prop=TEXT', 'sets a property', '-Px=y'),
      reach('-g --gradle-user-home --project-cache-dir=FILE', 'uses another folder', '-g x'),
      hidden('--include-build=FILE', 'builds another project', '--include-build=../x'),
      reach('--scan', 'sends what it did to a service', '--scan'),
    ],
    texts: '-x --exclude-task --max-workers --console --tests --warning-mode',
    operands: 'texts',
    clean: '--offline test',
  },
  {
    names: 'mvn mvnw mvnd',
    style: 'exact',
    rows: [
      reach('-f --file=FILE', 'builds another project', '-f ../x/pom.xml'),
      hidden('-s --settings -gs --global-settings -t --toolchains=FILE', 'reads other settings', '-s x.xml'),
      hidden('-D --define=TEXT', 'sets a property', '-Dx=y'),
      reach('-l --log-file=FILE', 'writes a file', '-l x.log'),
    ],
    texts: '-P --activate-profiles -pl --projects -T --threads -rf --resume-from',
    operands: 'texts',
    operandRows: [{ like: /:/, kind: 'hidden', reason: 'runs a plugin', example: 'exec:exec' }],
    clean: '-o test',
  },
  {
    names: 'gcc cc g++ clang clang++ c++ ld as',
    isVersioned: true,
    rows: [
      reach('-o=FILE', 'writes a file', '-o x'),
      hidden('-B=FILE', 'takes its programs from another folder', '-B x'),
      hidden('-W=TEXT', 'may give options to the linker or name a program', '-Wl,-x', /^[lap],/),
      hidden('-w[=TEXT]', 'runs its programs by another', '-wrapper x', /^rapper/),
      hidden('-f[=TEXT]', 'loads code or names a program', '-fplugin=./x.so', /^(pass-)?plugin|^use-ld/),
      hidden('-s[=TEXT]', 'reads from a file which programs it runs', '-specs=x', /^pecs/),
      hidden('-p[=TEXT]', 'loads code', '-plugin x', /^lugin/),
      hidden('-X=TEXT', 'gives options to another program', '-Xlinker x', /^(linker|clang|assembler|preprocessor)/),
      hidden('--specs --plugin --ld-path --config --wrapper=FILE', 'loads code or names a program', '--specs=x'),
    ],
    operands: 'paths',
    operandRows: [{ like: /^@/, kind: 'reach', reason: 'reads its options from a file', example: '@args' }],
    implied: { kind: 'reach', reason: 'writes what it compiles', example: 'main.c' },
  },
]
