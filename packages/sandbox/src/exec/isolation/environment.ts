import { execFile } from 'node:child_process'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { nodeFolder } from '../host/host.ts'
import { SANDBOX_HOME } from './sandbox.ts'

/** The settings of an environment. */
export interface EnvironmentOptions {
  /** Folders that come first in PATH, after the git shim. */
  readonly path?: readonly string[]
  /** Default: the home of a sandbox. */
  readonly home?: string
  /** The kind of terminal. Default: `dumb`. */
  readonly term?: string
  /** `safeDirectories`: repositories that belong to another user than the one who runs git. */
  readonly git?: { readonly safeDirectories?: readonly string[] }
  /** Further variables, such as those of granted caches. */
  readonly extra?: Readonly<Record<string, string>>
  /** The environment from which language and time zone are copied. Default: the hub's own. */
  readonly from?: Readonly<Record<string, string | undefined>>
}

const PATH = ['/usr/local/bin', '/usr/bin', '/bin', '/usr/local/sbin', '/usr/sbin', '/sbin']
const COPIED = /^(LANG|LANGUAGE|LC_[A-Z]{1,20}|TZ)$/
/** Locales and time zones look like this; a variable with any other value is not what its name says. */
const PLAIN = /^[\w.@:/+-]{1,100}$/

/** The complete environment of a command: a list of what it gets, since a list of what to remove is never complete. */
export function commandEnvironment({
  path = [],
  home = SANDBOX_HOME,
  term = 'dumb',
  git = {},
  extra = {},
  from = process.env,
}: EnvironmentOptions = {}): Record<string, string> {
  const node = nodeFolder()
  const copied: Record<string, string> = {}
  for (const [name, value = ''] of Object.entries(from)) {
    if (COPIED.test(name) && PLAIN.test(value)) copied[name] = value
  }
  return {
    LANG: 'C.UTF-8',
    ...copied,
    PATH: [SHIM_FOLDER, ...path, ...(node ? [`${node}/bin`] : []), ...PATH].join(':'),
    HOME: home,
    SHELL: '/bin/bash',
    TERM: term,
    TMPDIR: '/tmp',
    PAGER: 'cat',
    MANPAGER: 'cat',
    NO_UPDATE_NOTIFIER: '1',
    ...gitSettings(git.safeDirectories),
    ...extra,
  }
}

/** A package manager's cache that the owner can share with commands. */
export type CacheFolderName = 'npm' | 'go' | 'cargo'

/** The folders of a cache, writable in the sandbox, and the variables that point to them. */
export interface CacheFolders {
  readonly writable: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/**
 * The caches in a home folder, whether they exist or not. A command that may write there can change what other projects
 * will use: that is what the owner grants.
 */
export function cacheFolders(names: readonly CacheFolderName[], home: string = homedir()): CacheFolders {
  const found = [...new Set(names)].map((name) => CACHES[name](home))
  return {
    writable: found.flatMap((cache) => cache.writable),
    env: Object.assign({}, ...found.map((cache) => cache.env)) as Record<string, string>,
  }
}

const CACHES: Readonly<Record<CacheFolderName, (home: string) => CacheFolders>> = {
  npm: (home) => ({ writable: [join(home, '.npm')], env: { npm_config_cache: join(home, '.npm') } }),
  go: (home) => ({
    writable: [join(home, 'go/pkg/mod'), join(home, '.cache/go-build')],
    env: { GOMODCACHE: join(home, 'go/pkg/mod'), GOCACHE: join(home, '.cache/go-build') },
  }),
  // Only these two: the rest of cargo's home holds its token, its settings and programs that the owner runs.
  cargo: (home) => ({
    writable: [join(home, '.cargo/registry'), join(home, '.cargo/git')],
    env: { CARGO_HOME: join(home, '.cargo') },
  }),
}

/**
 * Settings that a repository's own cannot override: git receives them as if they were on its command line. They cover
 * every program that a repository can make git run and that a setting can switch off.
 */
const SETTINGS: ReadonlyArray<readonly [key: string, value: string]> = [
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['core.pager', 'cat'],
  ['core.sshCommand', 'ssh'],
  // An empty value discards the helpers that were named before.
  ['credential.helper', ''],
  ['interactive.diffFilter', 'cat'],
  ['protocol.ext.allow', 'never'],
  ['log.showSignature', 'false'],
  ['commit.gpgSign', 'false'],
  ['tag.gpgSign', 'false'],
  ['gpg.program', 'gpg'],
  ['gpg.ssh.program', 'ssh-keygen'],
  ['gpg.x509.program', 'gpgsm'],
  // Otherwise git would continue in the background after the command, and be killed at any moment.
  ['gc.autoDetach', 'false'],
  ['maintenance.autoDetach', 'false'],
]

/**
 * The environment in which git runs no program that a repository chooses and waits for nobody. `GIT_SHIM` covers what
 * only options can switch off (external diffs, text conversion); filters of `.gitattributes` stay active.
 */
export function gitSettings(safeDirectories: readonly string[] = []): Record<string, string> {
  const settings = [...SETTINGS, ...safeDirectories.map((path) => ['safe.directory', path] as const)]
  const numbered: Record<string, string> = {}
  for (const [index, [key, value]] of settings.entries()) {
    numbered[`GIT_CONFIG_KEY_${index}`] = key
    numbered[`GIT_CONFIG_VALUE_${index}`] = value
  }
  return {
    GIT_PAGER: 'cat',
    GIT_TERMINAL_PROMPT: '0',
    // Empty, so that a program named by the repository is not used either.
    GIT_ASKPASS: '',
    GIT_EDITOR: 'true',
    GIT_SEQUENCE_EDITOR: 'true',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_COUNT: String(settings.length),
    ...numbered,
  }
}

/** Where a sandbox has the shim; the first folder of its PATH. */
export const SHIM_FOLDER = '/etc/tool-hub/bin'

/**
 * A `git` that adds the options that git has no setting for: external diffs and text conversion would run programs
 * that the repository names. It finds the subcommand after git's own options and leaves every word unchanged.
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

const run = promisify(execFile)
const MAX_MS = 5_000
/** Names and addresses; anything else is not passed on. */
const PLAIN_IDENTITY = /^[^\p{Cc}<>]{1,200}$/u

/**
 * The author of commits: `user.name` and `user.email` of the repository in the first root, otherwise of the hub's user,
 * for a git that does not see that user's settings. Empty if there are none.
 */
export async function gitIdentity(root: string | undefined): Promise<Record<string, string>> {
  const own = await settings(['--global', '--includes'])
  const repository = root === undefined ? {} : await settings(['--file', join(root, '.git/config')])
  const { 'user.name': name, 'user.email': email } = { ...own, ...repository }
  return {
    ...(name && { GIT_AUTHOR_NAME: name, GIT_COMMITTER_NAME: name }),
    ...(email && { GIT_AUTHOR_EMAIL: email, GIT_COMMITTER_EMAIL: email }),
  }
}

async function settings(where: readonly string[]): Promise<Record<string, string>> {
  const words = ['config', ...where, '--null', '--get-regexp', '^user\\.(name|email)$']
  try {
    const { stdout } = await run('git', words, { cwd: '/', timeout: MAX_MS })
    const pairs = stdout.split('\0').map((entry) => entry.split('\n', 2) as [string, string?])
    return Object.fromEntries(pairs.filter(([, value]) => PLAIN_IDENTITY.test(value ?? ''))) as Record<string, string>
  } catch {
    // No git, no such file or no such setting: git in the sandbox then reports what it needs.
    return {}
  }
}
