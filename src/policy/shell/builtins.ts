import type { Doubt } from './reading.ts'

const LATER = 'it changes what later commands do'

/** Builtins, and programs of the kind, that do more than any table of options would say. */
export const BUILTINS: ReadonlyMap<string, Doubt> = new Map<string, Doubt>([
  ...hidden('it runs a script', 'source', '.'),
  ...hidden('it can put other code behind a name', 'enable', 'alias', 'hash', 'shopt', 'bind', 'complete'),
  ...hidden('it runs what was typed before', 'fc', 'history'),
  ...hidden('it runs commands in another session', 'tmux', 'screen', 'at', 'batch', 'crontab', 'expect', 'dtach'),
  ...reach(LATER, 'set', 'unset', 'export', 'declare', 'typeset', 'local', 'readonly', 'unalias', 'umask', 'ulimit'),
  ...reach(LATER, 'read', 'mapfile', 'readarray', 'getopts', 'let', 'trap', 'exec', 'coproc', '(('),
])

function hidden(reason: string, ...names: string[]): [string, Doubt][] {
  return names.map((name) => [name, { kind: 'hidden', reason, at: 0 }])
}

function reach(reason: string, ...names: string[]): [string, Doubt][] {
  return names.map((name) => [name, { kind: 'reach', reason, at: 0 }])
}
