const PROGRAMS =
  'ls dir cat head tail wc nl tac rev cut uniq tr fold fmt paste column comm join expand unexpand cmp diff stat du df file ' +
  'readlink realpath basename dirname tree md5sum sha1sum sha256sum sha512sum cksum od hexdump strings grep egrep fgrep rg ' +
  'find fd sort jq pwd whoami id uname nproc date echo printf true false test which type seq expr cd'

const GIT_COMMANDS =
  'status log diff show blame grep ls-files ls-tree cat-file rev-parse rev-list describe shortlog merge-base branch tag remote reflog'

/**
 * Named lists of command patterns, for `on` and `except`. `group:read-only`: commands that only read and print. An option by
 * which one of them would write a file, run a program or reach beyond the roots is known to the shell policy: an allow of
 * the group does not cover it, and neither does it cover a redirection to a file.
 */
export const COMMAND_GROUPS: ReadonlyMap<string, readonly string[]> = new Map([
  [
    'group:read-only',
    [
      ...PROGRAMS.split(' ').map((program) => `${program} *`),
      'sed -n *',
      ...GIT_COMMANDS.split(' ').map((command) => `git ${command} *`),
      'git stash list *',
      'git worktree list *',
    ],
  ],
])
