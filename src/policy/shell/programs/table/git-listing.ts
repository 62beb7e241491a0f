import type { ProgramTable } from '../program-table.ts'
import { hidden, reach } from '../row.ts'
import { CHECKS_SIGNATURES, DIFF_ROWS, DIFF_TEXTS } from './git-options.ts'

const SIGNATURE = /signature/

/** The commands of git that list when they are asked nothing, and change when they are. */
export const GIT_LISTING_COMMANDS: readonly ProgramTable[] = [
  {
    names: 'branch',
    rows: [
      reach('-d --delete', 'deletes a branch', '-d old'),
      reach('-D', 'deletes a branch that is not merged', '-D old'),
      reach('-m --move -M', 'renames a branch', '-m old new'),
      reach('-c --copy -C', 'copies a branch', '-c old new'),
      reach('-f --force', 'moves a branch', '-f main'),
      reach('-u --set-upstream-to=TEXT', 'changes what a branch follows', '-u origin/main'),
      reach('--unset-upstream', 'changes what a branch follows', '--unset-upstream'),
      reach('-t --track[=TEXT]', 'makes a branch that follows another', '-t new'),
      reach('--create-reflog', 'makes a branch', '--create-reflog'),
      hidden('--edit-description', 'starts an editor', '--edit-description'),
      hidden('--format --sort=TEXT', CHECKS_SIGNATURES, '--format=%(signature)', SIGNATURE),
      reach('--help', 'opens a viewer', '--help'),
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
      reach('-d --delete', 'deletes a tag', '-d v1'),
      reach('-f --force', 'moves a tag', '-f v1'),
      hidden('-s --sign', 'runs the program that signs', '-s v1'),
      hidden('-u --local-user=TEXT', 'runs the program that signs', '-u me v1'),
      hidden('-v --verify', CHECKS_SIGNATURES, '-v v1'),
      reach('-a --annotate', 'makes a tag', '-a v1'),
      reach('-m --message=TEXT', 'makes a tag', '-m text v1'),
      reach('-F --file=FILE', 'reads the message from a file', '-F message.txt'),
      hidden('-e --edit', 'starts an editor', '-e v1'),
      hidden('--format --sort=TEXT', CHECKS_SIGNATURES, '--format=%(signature)', SIGNATURE),
      reach('--help', 'opens a viewer', '--help'),
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
    commands: [{ names: 'list', rows: DIFF_ROWS, texts: DIFF_TEXTS, operands: 'texts' }],
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
      reach('-f --file=FILE', 'uses another configuration file', '--file x.cfg'),
      reach('--blob=TEXT', 'uses another configuration', '--blob=HEAD:x'),
      reach('--global', 'uses the configuration of the user', '--global'),
      reach('--system', 'uses the configuration of the machine', '--system'),
      reach('--add', 'changes the configuration', '--add'),
      reach('--unset --unset-all', 'changes the configuration', '--unset'),
      reach('--replace-all', 'changes the configuration', '--replace-all'),
      reach('--rename-section --remove-section', 'changes the configuration', '--rename-section'),
      hidden('-e --edit', 'starts an editor', '-e'),
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
