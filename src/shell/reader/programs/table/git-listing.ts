import type { ProgramTable } from '../program-table.ts'
import { hiddenRow, reachRow } from '../row.ts'
import { CHECKS_SIGNATURES, DIFF_ROWS, DIFF_TEXTS } from './git-options.ts'

const SIGNATURE = /signature/

/** The commands of git that list when they are asked nothing, and change when they are. */
export const GIT_LISTING_COMMANDS: readonly ProgramTable[] = [
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
