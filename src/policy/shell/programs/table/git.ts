import type { ProgramTable } from '../program-table.ts'
import { hidden, reach } from '../row.ts'
import { GIT_CHANGING_COMMANDS } from './git-changing.ts'
import { GIT_LISTING_COMMANDS } from './git-listing.ts'
import { GIT_READING_COMMANDS } from './git-reading.ts'

/** git itself: what stands before the command, which decides whose configuration and programs are used. */
export const GIT: readonly ProgramTable[] = [
  {
    names: 'git',
    style: 'exact',
    rows: [
      hidden('-c=TEXT', 'sets a configuration value, and many name a program to run', '-c core.fsmonitor=./x'),
      hidden('--config-env=TEXT', 'sets a configuration value from the environment', '--config-env=core.pager=PAGER'),
      reach('-C=FILE', 'works in another folder, with the configuration there', '-C ../other'),
      reach('--git-dir=FILE', 'uses another repository and its configuration', '--git-dir=/tmp/evil'),
      reach('--work-tree=FILE', 'works on another folder', '--work-tree=/'),
      hidden('--exec-path[=FILE]', 'takes the programs of git from another folder', '--exec-path=/tmp/x'),
      hidden('-p --paginate', 'starts a pager', '-p'),
      reach('--namespace=TEXT', 'uses other references', '--namespace=x'),
      reach('--super-prefix=TEXT', 'reads paths from another folder', '--super-prefix=x/'),
      reach('--bare', 'takes the folder itself for a repository, with the configuration in it', '--bare'),
      reach('--attr-source=TEXT', 'takes the attributes of files from another tree', '--attr-source=HEAD'),
      reach('--help', 'opens a viewer', '--help'),
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
