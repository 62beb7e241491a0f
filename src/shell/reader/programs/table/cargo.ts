import type { ProgramTable } from '../program-table.ts'
import { hiddenRow, reachRow } from '../row.ts'

/** cargo: building and testing run code of the project by nature; other sources, settings and places are hazards. */
export const CARGO: readonly ProgramTable[] = [
  {
    names: 'cargo',
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
        operands: 'guess',
        flags: '--check',
        implied: { unless: '--check', kind: 'reach', reason: 'changes the sources', example: '' },
        clean: '--check',
      },
      {
        names: 'tree metadata pkgid locate-project version help verify-project read-manifest',
        style: 'exact',
        operands: 'guess',
      },
      {
        names: 'run r',
        style: 'exact',
        stopsAtOperand: true,
        operands: 'guess',
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
        operands: 'guess',
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
