import { homedir } from 'node:os'
import { join } from 'node:path'

/** A cache of a package manager that the owner can let commands share. */
export type CacheFolderName = 'npm' | 'go' | 'cargo'

/** The folders of a cache, writable in the jail, and the variables that lead there. */
export interface CacheFolders {
  readonly writable: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/**
 * The caches by name, in a home; folders that do not exist are for the caller to make or to leave out. A command that may
 * write there can put something into what other projects will use: that is what the owner grants.
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
  // Only these two of its home: the others hold its token, its settings and programs that the owner runs.
  cargo: (home) => ({
    writable: [join(home, '.cargo/registry'), join(home, '.cargo/git')],
    env: { CARGO_HOME: join(home, '.cargo') },
  }),
}
