import { gitSettings, SHIM_FOLDER } from './git-settings.ts'
import { JAIL_HOME } from './jail-home.ts'
import { nodeFolder } from './node-folder.ts'

/** What an environment is made for. */
export interface EnvironmentOptions {
  /** Folders that come first in PATH, after the shims. */
  readonly path?: readonly string[]
  readonly home?: string
  /** What kind of terminal there is. */
  readonly term?: string
  /** `safeDirectories`: repositories that belong to another user than the one who runs git. */
  readonly git?: { readonly safeDirectories?: readonly string[] }
  /** Further variables, such as those of granted caches. */
  readonly extra?: Readonly<Record<string, string>>
  /** The hub's own environment, of which language and time zone are taken. */
  readonly from?: Readonly<Record<string, string | undefined>>
}

const PATH = ['/usr/local/bin', '/usr/bin', '/bin', '/usr/local/sbin', '/usr/sbin', '/sbin']
const TAKEN = /^(LANG|LANGUAGE|LC_[A-Z]{1,20}|TZ)$/
/** Locales and zones look like this; anything else in such a variable is not what its name says. */
const PLAIN = /^[\w.@:/+-]{1,100}$/

/** The whole environment of a command: a list of what it gets, since a list of what to keep back is never complete. */
export function commandEnvironment({
  path = [],
  home = JAIL_HOME,
  term = 'dumb',
  git = {},
  extra = {},
  from = process.env,
}: EnvironmentOptions = {}): Record<string, string> {
  const node = nodeFolder()
  const taken = Object.entries(from).filter(([name, value]) => TAKEN.test(name) && PLAIN.test(value ?? ''))
  return {
    LANG: 'C.UTF-8',
    ...(Object.fromEntries(taken) as Record<string, string>),
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
