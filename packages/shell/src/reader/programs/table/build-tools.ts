import { hiddenRow, type ProgramTable, reachRow } from '../program-table.ts'

/** cargo: building and testing run code of the project by nature; other sources, settings and places are hazards. */
export const CARGO: readonly ProgramTable[] = [
  {
    names: 'cargo',
    projectFiles: 'Cargo.toml build.rs .cargo/config.toml',
    style: 'exact',
    isInherited: true,
    rows: [
      hiddenRow(
        '--config=TEXT',
        'sets a configuration value, and some name a program to run',
        '--config build.rustc-wrapper="./x"',
      ),
      reachRow('-C=FILE', 'works in another folder', '-C ../x'),
      hiddenRow('-Z=TEXT', 'turns on what is not yet stable', '-Z unstable-options'),
      reachRow('--manifest-path=FILE', 'builds another project', '--manifest-path ../x/Cargo.toml'),
      reachRow('--target-dir=FILE', 'writes into a folder', '--target-dir x'),
      reachRow('--artifact-dir --out-dir=FILE', 'writes into a folder', '--artifact-dir=x'),
      reachRow('--lockfile-path=FILE', 'uses another lock file', '--lockfile-path=x'),
    ],
    texts:
      '-p --package --exclude --bin --example --test --bench -F --features --profile --target -j --jobs --color ' +
      '--message-format --explain',
    maybes: '--timings',
    flags:
      '-v --verbose -q --quiet --offline --locked --frozen --release -r --all-targets --workspace --all --lib --bins --tests ' +
      '--examples --benches --all-features --no-default-features --no-run --no-fail-fast --keep-going --doc --version -V --list',
    commands: [
      {
        names: 'build b check c test t bench clippy doc d rustdoc',
        rows: [
          reachRow('--fix', 'changes the sources', '--fix'),
          hiddenRow('--open', 'starts a browser', '--open'),
          reachRow('--build-plan --unit-graph', 'asks for what is not yet stable', '--unit-graph'),
        ],
        style: 'exact',
        operands: 'texts',
        operandRows: [
          { like: /^--logfile/, kind: 'reach', reason: 'makes the tests write a file', example: '-- --logfile' },
        ],
        clean: '--release -p x',
      },
      {
        names: 'fmt',
        style: 'exact',
        flags: '--check',
        implied: { unless: '--check', kind: 'reach', reason: 'changes the sources', example: '' },
        clean: '--check',
      },
      {
        names: 'tree metadata pkgid locate-project version help verify-project read-manifest',
        style: 'exact',
      },
      {
        names: 'run r',
        style: 'exact',
        stopsAtOperand: true,
        implied: { kind: 'hidden', reason: 'runs the program that it builds', example: '' },
      },
      {
        names:
          'install add update fetch search publish login logout owner yank package vendor generate-lockfile remove rm upgrade',
        risk: { publish: 'publishes', install: 'installs', add: 'installs', update: 'installs' },
        style: 'exact',
        rows: [
          reachRow('--git --index --registry=TEXT', 'takes packages from another place', '--git=https://example.com/x'),
          reachRow('--path --root=FILE', 'uses another folder', '--path=../x'),
        ],
        implied: { kind: 'reach', reason: 'reaches the registry or changes what the project depends on', example: 'x' },
      },
      {
        names: 'clean new init fix',
        style: 'exact',
        operands: 'paths',
        implied: { kind: 'reach', reason: 'writes or deletes files', example: '' },
      },
    ],
    // The first operand may be a toolchain, +nightly, which is an unknown command too.
    otherwise: { kind: 'hidden', reason: 'is another toolchain, or a program of that name', example: '+nightly test' },
    clean: 'test',
  },
  {
    names: 'rustc rustdoc',
    style: 'exact',
    rows: [
      hiddenRow('-C --codegen=TEXT', 'may name the linker to run', '-C linker=./x'),
      hiddenRow('-Z=TEXT', 'turns on what is not yet stable', '-Z help'),
      reachRow('-o=FILE', 'writes a file', '-o x'),
      reachRow('--out-dir=FILE', 'writes into a folder', '--out-dir x'),
    ],
    texts: '--crate-type --edition --emit --target --cfg --crate-name --print',
    files: '-L --extern --sysroot',
    operands: 'paths',
    operandRows: [{ like: /^@/, kind: 'reach', reason: 'reads its options from a file', example: '@args' }],
    clean: '--edition 2021 main.rs',
  },
  {
    names: 'rustup',
    mayRunWords: true,
    implied: { kind: 'reach', reason: 'fetches or runs toolchains', example: 'run nightly x' },
  },
  {
    names: 'rustfmt',
    style: 'exact',
    rows: [
      reachRow('--config-path=FILE', 'uses another configuration', '--config-path=x'),
      reachRow('--config=TEXT', 'sets a configuration value', '--config=x=y'),
    ],
    flags: '--check',
    operands: 'paths',
    implied: { unless: '--check', kind: 'reach', reason: 'changes the sources', example: 'main.rs' },
    clean: '--check main.rs',
  },
]

/** Programs that build by the rules of a file of the project: those rules are what is allowed with the name. */
export const MAKE: readonly ProgramTable[] = [
  {
    names: 'make gmake bmake',
    projectFiles: 'GNUmakefile BSDmakefile makefile Makefile',
    rows: [
      hiddenRow('-f --file --makefile=FILE', 'reads other rules', '-f other.mk'),
      reachRow('-C --directory=FILE', 'works in another folder, by the rules there', '-C ../x'),
      hiddenRow('-I --include-dir=FILE', 'takes included rules from another folder', '-I x'),
      hiddenRow('-E --eval=TEXT', 'adds rules', '--eval=x:;id'),
      reachRow('-e --environment-overrides', 'lets the environment win over the file', '-e'),
      hiddenRow('-D=TEXT', 'sets a variable', '-D X'),
      hiddenRow('-m=FILE', 'takes included rules from another folder', '-m x'),
      hiddenRow('--jobserver-auth --jobserver-fds=TEXT', 'uses descriptors of another program', '--jobserver-auth=3,4'),
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
    projectFiles:
      'justfile Justfile .justfile Taskfile.yml Taskfile.yaml taskfile.yml taskfile.yaml Rakefile rakefile Rakefile.rb',
    rows: [
      hiddenRow('-f --justfile --taskfile --rakefile=FILE', 'reads other rules', '-f x'),
      reachRow('-d --working-directory --dir=FILE', 'works in another folder', '-d x'),
      hiddenRow('-e --execute --eval=TEXT', 'runs code', '-e x'),
      hiddenRow('--shell=TEXT', 'runs another shell', '--shell=./x'),
      hiddenRow('-c --command=TEXT', 'runs a program', '-c ./x'),
      hiddenRow('-r --require=FILE', 'loads code', '-r ./x'),
    ],
    operands: 'texts',
    operandRows: [{ like: /=/, kind: 'hidden', reason: 'sets a variable', example: 'X=./x' }],
    clean: 'test',
  },
  {
    names: 'ninja',
    projectFiles: 'build.ninja rules.ninja',
    rows: [
      hiddenRow('-f=FILE', 'reads other rules', '-f x.ninja'),
      reachRow('-C=FILE', 'works in another folder', '-C out'),
      reachRow('-t=TEXT', 'starts one of its tools', '-t clean'),
    ],
    texts: '-j -k -l -d -w',
    operands: 'texts',
    clean: '-j4 all',
  },
  {
    names: 'cmake ctest cpack meson bazel buck scons ant',
    rows: [
      hiddenRow('-P=FILE', 'runs a script', '-P x.cmake'),
      hiddenRow('-E=TEXT', 'runs a command', '-E rm x'),
      hiddenRow('-S --script=FILE', 'runs a script', '-S x'),
    ],
    implied: { kind: 'hidden', reason: 'runs what its files say, and writes', example: '.' },
  },
  {
    names: 'gradle gradlew',
    projectFiles: 'build.gradle build.gradle.kts settings.gradle settings.gradle.kts gradle.properties',
    style: 'exact',
    rows: [
      hiddenRow('-b --build-file=FILE', 'reads other rules', '-b x.gradle'),
      hiddenRow('-I --init-script=FILE', 'runs a script', '-I x.gradle'),
      hiddenRow('-c --settings-file=FILE', 'reads other settings', '-c x.gradle'),
      reachRow('-p --project-dir=FILE', 'builds another project', '-p ../x'),
      hiddenRow('-D --system-prop=TEXT', 'sets a property', '-Dx=y'),
      hiddenRow('-P --project-prop=TEXT', 'sets a property', '-Px=y'),
      reachRow('-g --gradle-user-home --project-cache-dir=FILE', 'uses another folder', '-g x'),
      hiddenRow('--include-build=FILE', 'builds another project', '--include-build=../x'),
      reachRow('--scan', 'sends what it did to a service', '--scan'),
    ],
    texts: '-x --exclude-task --max-workers --console --tests --warning-mode',
    operands: 'texts',
    clean: '--offline test',
  },
  {
    names: 'mvn mvnw mvnd',
    projectFiles: 'pom.xml .mvn/extensions.xml .mvn/jvm.config .mvn/maven.config',
    style: 'exact',
    rows: [
      reachRow('-f --file=FILE', 'builds another project', '-f ../x/pom.xml'),
      hiddenRow('-s --settings -gs --global-settings -t --toolchains=FILE', 'reads other settings', '-s x.xml'),
      hiddenRow('-D --define=TEXT', 'sets a property', '-Dx=y'),
      reachRow('-l --log-file=FILE', 'writes a file', '-l x.log'),
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
      reachRow('-o=FILE', 'writes a file', '-o x'),
      hiddenRow('-B=FILE', 'takes its programs from another folder', '-B x'),
      hiddenRow('-W=TEXT', 'may give options to the linker or name a program', '-Wl,-x', /^[lap],/),
      hiddenRow('-w[=TEXT]', 'runs its programs by another', '-wrapper x', /^rapper/),
      hiddenRow('-f[=TEXT]', 'loads code or names a program', '-fplugin=./x.so', /^(pass-)?plugin|^use-ld/),
      hiddenRow('-s[=TEXT]', 'reads from a file which programs it runs', '-specs=x', /^pecs/),
      hiddenRow('-p[=TEXT]', 'loads code', '-plugin x', /^lugin/),
      hiddenRow('-X=TEXT', 'gives options to another program', '-Xlinker x', /^(linker|clang|assembler|preprocessor)/),
      hiddenRow('--specs --plugin --ld-path --config --wrapper=FILE', 'loads code or names a program', '--specs=x'),
    ],
    operands: 'paths',
    operandRows: [{ like: /^@/, kind: 'reach', reason: 'reads its options from a file', example: '@args' }],
    implied: { kind: 'reach', reason: 'writes what it compiles', example: 'main.c' },
  },
]
