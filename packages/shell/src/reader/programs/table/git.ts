import { hiddenRow, type ProgramTable, reachRow } from '../program-table.ts'
import {
  CHECKS_SIGNATURES,
  DIFF_ROWS,
  DIFF_TEXTS,
  GIT_READING_COMMANDS,
  NAMING_FILES,
  SHOWS_DIFF,
} from './git-reading.ts'

const CHANGING_ROWS = [
  reachRow('--pathspec-from-file=FILE', 'reads its operands from a file', '--pathspec-from-file=x.txt'),
  hiddenRow('-e --edit', 'starts an editor', '-e'),
  reachRow('--unsafe-paths', 'writes outside of the work tree', '--unsafe-paths'),
  reachRow('--directory=FILE', 'writes below another folder', '--directory=x'),
]
const CHANGES_TREE = {
  kind: 'reach',
  reason: 'changes the index or files of the work tree',
  example: 'src/',
} as const

/** The commands of git that change something or start another program, each with what its options add to that. */
const GIT_CHANGING_COMMANDS: readonly ProgramTable[] = [
  {
    names: 'add stage mv rm',
    risk: { rm: 'deletes' },
    rows: CHANGING_ROWS,
    texts: '--chmod',
    flags: '-A --all -u --update -v --verbose -n --dry-run -N --intent-to-add',
    operands: 'paths',
    anyFiles: true,
    implied: CHANGES_TREE,
  },
  {
    names: 'restore checkout switch reset apply am sparse-checkout checkout-index',
    risk: { restore: 'discards', reset: 'discards' },
    rows: CHANGING_ROWS,
    texts: '-b -B -c -C --chmod',
    operands: 'revisions',
    implied: CHANGES_TREE,
  },
  {
    names: 'commit cherry-pick revert notes',
    rows: [
      hiddenRow('-v --verbose', SHOWS_DIFF, '-v'),
      reachRow('-F --file=FILE', 'reads the message from a file', '-F message.txt'),
      reachRow('-t --template=FILE', 'reads the message from a file', '-t message.txt'),
      reachRow('--pathspec-from-file=FILE', 'reads its operands from a file', '--pathspec-from-file=x.txt'),
      hiddenRow('-S --gpg-sign[=TEXT]', 'runs the program that signs', '-S'),
      hiddenRow('-e --edit', 'starts an editor', '-e'),
      hiddenRow('--strategy=TEXT', 'runs the merge program of that name', '--strategy=x'),
    ],
    messages: '-m --message',
    texts: '--author --date -C -c --reuse-message --reedit-message --fixup --squash --trailer --cleanup',
    operands: 'revisions',
    implied: { kind: 'reach', reason: 'writes to the repository', example: '-m text' },
  },
  {
    names: 'clean',
    texts: '-e --exclude',
    operands: 'paths',
    implied: { unless: '-n --dry-run', kind: 'reach', reason: 'deletes files', example: '-fdx' },
    flags: '-n --dry-run -d -x -X -q',
    clean: '-n -d',
  },
  {
    names: 'push fetch pull ls-remote send-pack fetch-pack request-pull',
    risk: { push: 'pushes', 'send-pack': 'pushes' },
    rows: [
      hiddenRow('--upload-pack --receive-pack --exec=TEXT', 'names the program to run on the other side', '--exec=./x'),
      hiddenRow('-s --strategy=TEXT', 'runs the merge program of that name', '--strategy=x'),
    ],
    texts: '--depth --shallow-since -j --jobs -o --push-option --server-option --refmap',
    flags: '-u --set-upstream',
    operandRows: [{ like: /::/, kind: 'hidden', reason: 'runs a helper program', example: 'ext::sh' }],
    implied: { kind: 'reach', reason: 'exchanges content with another repository', example: '-u origin main' },
  },
  {
    names: 'clone',
    rows: [
      hiddenRow('-u --upload-pack=TEXT', 'names the program to run on the other side', '-u ./x'),
      hiddenRow('-c --config=TEXT', 'sets a configuration value, and many name a program', '-c core.pager=x'),
      hiddenRow('--template=FILE', 'copies hooks from a folder', '--template=x'),
      hiddenRow('--recurse-submodules --recursive[=TEXT]', 'fetches what the repository names', '--recursive'),
      reachRow('--reference --reference-if-able=FILE', 'uses another repository', '--reference=../x'),
      reachRow('--separate-git-dir=FILE', 'puts the repository somewhere else', '--separate-git-dir=x'),
      reachRow('--bundle-uri=TEXT', 'fetches from another place', '--bundle-uri=https://example.com'),
    ],
    texts: '-b --branch -o --origin --depth --shallow-since --shallow-exclude -j --jobs --filter --server-option',
    operandRows: [{ like: /::/, kind: 'hidden', reason: 'runs a helper program', example: 'ext::sh' }],
    implied: { kind: 'reach', reason: 'fetches another repository', example: 'https://example.com/x' },
  },
  {
    names: 'archive',
    rows: [
      hiddenRow('--exec=TEXT', 'names the program to run on the other side', '--exec=./x'),
      reachRow('-o --output=FILE', 'writes a file', '-o out.tar'),
      reachRow('--remote=TEXT', 'reaches another repository', '--remote=x'),
      reachRow('--add-file=FILE', 'takes in a file that is not of the repository', '--add-file=x'),
    ],
    texts: '--format --prefix --add-virtual-file --mtime',
    operands: 'revisions',
    clean: 'HEAD src/',
  },
  {
    names: 'merge',
    rows: [
      reachRow('-F --file=FILE', 'reads the message from a file', '-F message.txt'),
      hiddenRow('-s --strategy=TEXT', 'runs the merge program of that name', '-s x'),
      hiddenRow('-S --gpg-sign[=TEXT]', 'runs the program that signs', '-S'),
      hiddenRow('-e --edit', 'starts an editor', '-e'),
    ],
    texts: '-m -X --strategy-option --into-name --cleanup',
    operands: 'texts',
    implied: { kind: 'reach', reason: 'writes to the repository and the work tree', example: 'main' },
  },
  {
    names: 'rebase',
    rows: [
      hiddenRow('-x --exec=TEXT', 'runs a program after every commit', '--exec=./x'),
      hiddenRow('-i --interactive --edit-todo', 'starts an editor', '-i'),
      hiddenRow('-s --strategy=TEXT', 'runs the merge program of that name', '--strategy=x'),
    ],
    operands: 'texts',
    implied: { kind: 'reach', reason: 'writes the history anew', example: 'main' },
  },
  {
    names:
      'bisect submodule filter-branch difftool mergetool gui gitk citool instaweb web--browse daemon shell hook ' +
      'send-email svn p4 cvsimport fast-import upload-pack receive-pack credential for-each-repo maintenance',
    risk: { 'filter-branch': 'discards', 'send-email': 'sends' },
    rows: [
      hiddenRow('-x --extcmd=TEXT', 'names the program to start', '-x ./x'),
      hiddenRow('-t --tool=TEXT', 'names the program to start', '-t x'),
    ],
    operandRows: [{ like: /^(?:run|foreach)$/, kind: 'hidden', reason: 'runs the command after it', example: 'run' }],
    implied: { kind: 'hidden', reason: 'starts other programs', example: 'start' },
  },
  {
    names: 'help',
    implied: { kind: 'reach', reason: 'opens a viewer', example: 'diff' },
  },
  {
    names: 'init gc repack prune fsck update-ref update-index symbolic-ref replace pack-refs write-tree hash-object',
    rows: [
      hiddenRow('--template=FILE', 'copies hooks from a folder', '--template=x'),
      reachRow('--separate-git-dir=FILE', 'puts the repository somewhere else', '--separate-git-dir=x'),
      hiddenRow('--fsmonitor', 'starts a program that watches files', '--fsmonitor'),
    ],
    operands: 'revisions',
    implied: { kind: 'reach', reason: 'writes to the repository', example: '' },
  },
  {
    names: 'format-patch bundle',
    rows: [reachRow('-o --output-directory=FILE', 'writes into a folder', '-o out')],
    operands: 'revisions',
    implied: { kind: 'reach', reason: 'writes files', example: 'HEAD~1' },
  },
]

const SIGNATURE = /signature/

/** The commands of git that list when they are asked nothing, and change when they are. */
const GIT_LISTING_COMMANDS: readonly ProgramTable[] = [
  {
    names: 'branch',
    rows: [
      reachRow('-d --delete', 'deletes a branch', '-d old'),
      reachRow('-D', 'deletes a branch that is not merged', '-D old'),
      reachRow('-m --move -M', 'renames a branch', '-m old new'),
      reachRow('-c --copy -C', 'copies a branch', '-c old new'),
      reachRow('-f --force', 'moves a branch', '-f main'),
      reachRow('-u --set-upstream-to=TEXT', 'changes what a branch follows', '-u origin/main'),
      reachRow('--unset-upstream', 'changes what a branch follows', '--unset-upstream'),
      reachRow('-t --track[=TEXT]', 'makes a branch that follows another', '-t new'),
      reachRow('--create-reflog', 'makes a branch', '--create-reflog'),
      hiddenRow('--edit-description', 'starts an editor', '--edit-description'),
      hiddenRow('--format --sort=TEXT', CHECKS_SIGNATURES, '--format=%(signature)', SIGNATURE),
      reachRow('--help', 'opens a viewer', '--help'),
    ],
    texts: '--points-at',
    maybes: '--color --column --abbrev --contains --no-contains --merged --no-merged',
    flags: '-l --list -a --all -r --remotes -v --verbose --show-current --no-color --no-column -i --ignore-case -q',
    operands: 'texts',
    operandRows: [
      {
        unless: '-l --list --contains --no-contains --merged --no-merged',
        kind: 'reach',
        reason: 'makes or moves a branch',
        example: 'new-branch',
      },
    ],
    clean: '-a -v',
  },
  {
    names: 'tag',
    rows: [
      reachRow('-d --delete', 'deletes a tag', '-d v1'),
      reachRow('-f --force', 'moves a tag', '-f v1'),
      hiddenRow('-s --sign', 'runs the program that signs', '-s v1'),
      hiddenRow('-u --local-user=TEXT', 'runs the program that signs', '-u me v1'),
      hiddenRow('-v --verify', CHECKS_SIGNATURES, '-v v1'),
      reachRow('-a --annotate', 'makes a tag', '-a v1'),
      reachRow('-m --message=TEXT', 'makes a tag', '-m text v1'),
      reachRow('-F --file=FILE', 'reads the message from a file', '-F message.txt'),
      hiddenRow('-e --edit', 'starts an editor', '-e v1'),
      hiddenRow('--format --sort=TEXT', CHECKS_SIGNATURES, '--format=%(signature)', SIGNATURE),
      reachRow('--help', 'opens a viewer', '--help'),
    ],
    texts: '--points-at --cleanup',
    maybes: '-n --color --column --contains --no-contains --merged --no-merged',
    flags: '-l --list -i --ignore-case',
    operands: 'texts',
    operandRows: [
      {
        unless: '-l --list -n --contains --no-contains --merged --no-merged',
        kind: 'reach',
        reason: 'makes a tag',
        example: 'v2',
      },
    ],
  },
  {
    names: 'remote',
    flags: '-v --verbose',
    commands: [{ names: 'get-url', operands: 'texts', clean: 'origin' }],
    otherwise: { kind: 'reach', reason: 'changes or asks another repository', example: 'add x https://example.com/x' },
    clean: '-v',
  },
  {
    names: 'stash',
    commands: [{ names: 'list', rows: DIFF_ROWS, texts: DIFF_TEXTS, ...NAMING_FILES, operands: 'revisions' }],
    implied: {
      unlessOperands: true,
      kind: 'reach',
      reason: 'puts changes of the work tree away',
      example: '',
    },
    otherwise: { kind: 'reach', reason: 'changes the work tree or the stash', example: 'pop' },
    clean: 'list',
  },
  {
    names: 'worktree',
    commands: [{ names: 'list', operands: 'texts' }],
    otherwise: { kind: 'reach', reason: 'makes or removes work trees', example: 'add ../other' },
    clean: 'list',
  },
  {
    names: 'config',
    rows: [
      reachRow('-f --file=FILE', 'uses another configuration file', '--file x.cfg'),
      reachRow('--blob=TEXT', 'uses another configuration', '--blob=HEAD:x'),
      reachRow('--global', 'uses the configuration of the user', '--global'),
      reachRow('--system', 'uses the configuration of the machine', '--system'),
      reachRow('--add', 'changes the configuration', '--add'),
      reachRow('--unset --unset-all', 'changes the configuration', '--unset'),
      reachRow('--replace-all', 'changes the configuration', '--replace-all'),
      reachRow('--rename-section --remove-section', 'changes the configuration', '--rename-section'),
      hiddenRow('-e --edit', 'starts an editor', '-e'),
    ],
    texts: '--type --default',
    flags: '-l --list --get --get-all --get-regexp --get-urlmatch --show-origin --show-scope --name-only --local -z',
    operands: 'texts',
    operandRows: [
      {
        unless: '--get --get-all --get-regexp --get-urlmatch -l --list',
        kind: 'hidden',
        reason: 'may set a configuration value, and many name a program to run',
        example: 'core.pager ./x',
      },
    ],
  },
]

/** git itself: what stands before the command, which decides whose configuration and programs are used. */
export const GIT: readonly ProgramTable[] = [
  {
    names: 'git',
    style: 'exact',
    rows: [
      hiddenRow('-c=TEXT', 'sets a configuration value, and many name a program to run', '-c core.fsmonitor=./x'),
      hiddenRow(
        '--config-env=TEXT',
        'sets a configuration value from the environment',
        '--config-env=core.pager=PAGER',
      ),
      reachRow('-C=FILE', 'works in another folder, with the configuration there', '-C ../other'),
      reachRow('--git-dir=FILE', 'uses another repository and its configuration', '--git-dir=/tmp/evil'),
      reachRow('--work-tree=FILE', 'works on another folder', '--work-tree=/'),
      hiddenRow('--exec-path[=FILE]', 'takes the programs of git from another folder', '--exec-path=/tmp/x'),
      hiddenRow('-p --paginate', 'starts a pager', '-p'),
      reachRow('--namespace=TEXT', 'uses other references', '--namespace=x'),
      reachRow('--super-prefix=TEXT', 'reads paths from another folder', '--super-prefix=x/'),
      reachRow('--bare', 'takes the folder itself for a repository, with the configuration in it', '--bare'),
      reachRow('--attr-source=TEXT', 'takes the attributes of files from another tree', '--attr-source=HEAD'),
      reachRow('--help', 'opens a viewer', '--help'),
    ],
    flags:
      '-P --no-pager --no-replace-objects --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs ' +
      '--no-optional-locks --no-lazy-fetch --no-advice --version -v -h --html-path --man-path --info-path',
    maybes: '--list-cmds',
    isClosed: true,
    commands: [...GIT_READING_COMMANDS, ...GIT_LISTING_COMMANDS, ...GIT_CHANGING_COMMANDS],
    otherwise: {
      kind: 'hidden',
      reason: 'is a command of git that may change the repository, or an alias that runs a program',
      example: 'deploy',
    },
    clean: 'status',
  },
  {
    names: 'gh hub glab',
    commands: [
      { names: 'version help', operands: 'texts' },
      { names: 'status', operands: 'texts' },
    ],
    otherwise: { kind: 'reach', reason: 'reaches a service over the network', example: 'pr list' },
    clean: 'version',
  },
]
