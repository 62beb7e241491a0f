import { expect, it } from 'vitest'
import { commandEnvironment } from './environment.ts'

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
