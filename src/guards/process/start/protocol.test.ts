import { describe, expect, it } from 'vitest'
import { parseHubMessage, parseSpawnerMessage } from './protocol.ts'

const seed = { type: 'seed', id: 1, level: 'full', env: {}, hasCompanion: false, entrances: [] }
const open = { type: 'open', id: 1, file: '/bin/x', args: [], isAhead: false }

describe('a line from the hub', () => {
  it.each([
    seed,
    { ...seed, env: { A: 'b' }, seccomp: { fd: 3, program: '' }, entrances: ['/x'] },
    open,
    { ...open, args: ['a'], swappable: ['/x'], closed: ['/y'] },
    { type: 'run', id: 1, script: 'x' },
    { type: 'stop', id: 1 },
    { type: 'stop', id: 1, graceMs: 0 },
  ])('is read: %j', (message) => {
    expect(parseHubMessage(JSON.stringify(message))).toEqual(message)
  })

  it.each([
    '',
    'null',
    '[]',
    '{"type":"stop"}',
    '{"type":"stop","id":-1}',
    '{"type":"stop","id":"1"}',
    '{"type":"stop","id":1,"graceMs":0.5}',
    '{"type":"run","id":1}',
    '{"type":"constructor","id":1}',
    JSON.stringify({ ...open, args: [1] }),
    JSON.stringify({ ...open, closed: [1] }),
    JSON.stringify({ ...seed, env: { A: 1 } }),
    JSON.stringify({ ...seed, level: 'weak' }),
    JSON.stringify({ ...seed, seccomp: { fd: 3 } }),
    JSON.stringify({ ...seed, entrances: 'x' }),
  ])('is refused: %s', (line) => {
    expect(() => parseHubMessage(line)).toThrow()
  })
})

describe('a line from the spawner', () => {
  it.each([{ type: 'hello' }, { type: 'ended', id: 1, exitCode: 0 }, { type: 'pipes', id: 1, paths: ['a', 'b', 'c'] }])(
    'is read: %j',
    (message) => {
      expect(parseSpawnerMessage(JSON.stringify(message))).toEqual(message)
    },
  )

  it.each([
    '{"type":"pipes","id":1,"paths":["a"]}',
    '{"type":"running","id":1,"pid":"1"}',
    '{"type":"ended"}',
    '{"type":"ended","id":1,"exitCode":"0"}',
    '{}',
  ])('is refused: %s', (line) => {
    expect(() => parseSpawnerMessage(line)).toThrow()
  })
})
