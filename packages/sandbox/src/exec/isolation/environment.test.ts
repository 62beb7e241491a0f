import { expect, it } from 'vitest'
import { nodeFolder } from '../host/host.ts'
import { cacheFolders, commandEnvironment } from './environment.ts'

it('takes language and time zone of the hub, and nothing else', () => {
  const from = {
    LANG: 'de_DE.UTF-8',
    LC_ALL: 'C',
    TZ: 'Europe/Berlin',
    API_KEY: 'hunter2',
    PATH: '/home/me/bin',
    LD_PRELOAD: '/x.so',
    LC_SECRET_1: 'x',
    NODE_OPTIONS: '--require x',
  }
  const environment = commandEnvironment({ from })
  expect(environment).toMatchObject({
    LANG: 'de_DE.UTF-8',
    LC_ALL: 'C',
    TZ: 'Europe/Berlin',
    TERM: 'dumb',
    PAGER: 'cat',
  })
  expect(Object.keys(environment)).not.toEqual(expect.arrayContaining(['API_KEY']))
  expect(JSON.stringify(environment)).not.toMatch(/hunter2|home\/me|x\.so|require|LC_SECRET/)
})

it('leaves out a value that is not a locale', () => {
  expect(commandEnvironment({ from: { LANG: '$(id)\n', TZ: 'a b' } })).toMatchObject({ LANG: 'C.UTF-8' })
  expect(commandEnvironment({ from: { TZ: 'a b' } })).not.toHaveProperty('TZ')
})

it('has a path of its own, with additions first', () => {
  const folders = commandEnvironment({ path: ['/opt/tool/bin'], from: {} }).PATH!.split(':')
  expect(folders.indexOf('/opt/tool/bin')).toBeLessThan(folders.indexOf('/usr/bin'))
  expect(folders).not.toContain('.')
})

it('adds what caches need', () => {
  expect(commandEnvironment({ extra: { GOCACHE: '/c' }, home: '/h', term: 'xterm' })).toMatchObject({
    ...{ GOCACHE: '/c', HOME: '/h', TERM: 'xterm' },
  })
})

it('takes no variable whose name or value is only like a locale or a time zone', () => {
  const taken = (name: string, value: string) => commandEnvironment({ from: { [name]: value } })[name]
  expect(taken('LANGUAGE', 'de:en')).toBe('de:en')
  expect(taken('LC_TIME', 'de_DE.UTF-8@euro')).toBe('de_DE.UTF-8@euro')
  expect(taken(`LC_${'A'.repeat(20)}`, 'C')).toBe('C')
  expect(taken('TZ', 'x'.repeat(100))).toBe('x'.repeat(100))
  for (const name of ['MY_LANG', 'XTZ', 'TZDIR', 'LANGUAGES', 'LC_', `LC_${'A'.repeat(21)}`]) {
    expect(taken(name, 'C'), name).toBeUndefined()
  }
  for (const value of ['', ' UTC', 'UTC ', 'x'.repeat(101)]) expect(taken('TZ', value), value).toBeUndefined()
})

it('is exactly this, in addition to the git settings', () => {
  const node = nodeFolder()
  const own = Object.entries(commandEnvironment({ path: ['/opt/x'], from: {} })).filter(([name]) => !/^GIT_/.test(name))
  expect(Object.fromEntries(own)).toEqual({
    LANG: 'C.UTF-8',
    PATH: [
      ...['/etc/tool-hub/bin', '/opt/x', ...(node ? [`${node}/bin`] : [])],
      ...['/usr/local/bin', '/usr/bin', '/bin', '/usr/local/sbin', '/usr/sbin', '/sbin'],
    ].join(':'),
    HOME: '/run/home',
    SHELL: '/bin/bash',
    TERM: 'dumb',
    TMPDIR: '/tmp',
    PAGER: 'cat',
    MANPAGER: 'cat',
    NO_UPDATE_NOTIFIER: '1',
  })
})

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
