/**
 * Settings that the repository's own cannot override: git gets them as if they were on its command line. They name every
 * program that git would run because a repository says so and that a setting can take back.
 */
const SETTINGS: ReadonlyArray<readonly [key: string, value: string]> = [
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['core.pager', 'cat'],
  ['core.sshCommand', 'ssh'],
  // Empty takes back the helpers that were named before.
  ['credential.helper', ''],
  ['interactive.diffFilter', 'cat'],
  ['protocol.ext.allow', 'never'],
  ['log.showSignature', 'false'],
  ['commit.gpgSign', 'false'],
  ['tag.gpgSign', 'false'],
  ['gpg.program', 'gpg'],
  ['gpg.ssh.program', 'ssh-keygen'],
  ['gpg.x509.program', 'gpgsm'],
  // Else something would go on after the command has ended, and be killed at any moment.
  ['gc.autoDetach', 'false'],
  ['maintenance.autoDetach', 'false'],
]

/**
 * The environment that makes git run no program of a repository's choosing and wait for nobody. What only options can
 * switch off (external diffs, text conversion), `GIT_SHIM` does; filters of `.gitattributes` stay.
 */
export function gitSettings(safeDirectories: readonly string[] = []): Record<string, string> {
  const settings = [...SETTINGS, ...safeDirectories.map((path) => ['safe.directory', path] as const)]
  const numbered = settings.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ])
  return {
    GIT_PAGER: 'cat',
    GIT_TERMINAL_PROMPT: '0',
    // Empty, so that a program that the repository names is not asked either.
    GIT_ASKPASS: '',
    GIT_EDITOR: 'true',
    GIT_SEQUENCE_EDITOR: 'true',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(numbered),
  }
}

/** Where a jail has the shim; first in its PATH. */
export const SHIM_FOLDER = '/etc/tool-hub/bin'

/**
 * A `git` that adds the options for which there is no setting: external diffs and text conversion would run programs that
 * the repository names. It looks for the subcommand behind git's own options and leaves every word as it is.
 */
export const GIT_SHIM = `#!/bin/sh
count=$#
found=
skip=
while [ "$count" -gt 0 ]; do
  word=$1
  shift
  set -- "$@" "$word"
  count=$((count - 1))
  [ -n "$found" ] && continue
  [ -n "$skip" ] && { skip=; continue; }
  case $word in
  -C | -c | --git-dir | --work-tree | --namespace | --exec-path | --super-prefix | --config-env | --attr-source) skip=1 ;;
  -*) ;;
  diff | log | show | whatchanged | format-patch | diff-files | diff-index | diff-tree | blame | annotate)
    set -- "$@" --no-ext-diff --no-textconv
    found=1
    ;;
  *) found=1 ;;
  esac
done
for git in /usr/bin/git /usr/local/bin/git /bin/git; do
  [ -x "$git" ] && exec "$git" "$@"
done
echo 'git is not installed' >&2
exit 127
`
