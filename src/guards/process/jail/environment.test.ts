import { expect, it } from 'vitest'
import { commandEnvironment } from './environment.ts'
import { nodeFolder } from './node-folder.ts'

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

it('leaves out a value that is no locale', () => {
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

it('is exactly this beside the settings of git', () => {
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
