import { expect, it } from 'vitest'
import { cacheFolders } from './cache-folders.ts'

it('names the folders of a cache and the variables that lead there', () => {
  expect(cacheFolders(['npm', 'go', 'npm'], '/h')).toEqual({
    writable: ['/h/.npm', '/h/go/pkg/mod', '/h/.cache/go-build'],
    env: { npm_config_cache: '/h/.npm', GOMODCACHE: '/h/go/pkg/mod', GOCACHE: '/h/.cache/go-build' },
  })
})

it('does not open what cargo runs or signs in with', () => {
  expect(cacheFolders(['cargo'], '/h')).toEqual({
    writable: ['/h/.cargo/registry', '/h/.cargo/git'],
    env: { CARGO_HOME: '/h/.cargo' },
  })
})
