import { describe, expect, it } from 'vitest'
import { checkEach } from '../../../../../test/support/check-each.ts'
import { parseHubMessage, parseSpawnerMessage } from './protocol.ts'

const prewarm = { type: 'prewarm', id: 1, level: 'full', env: {}, hasHelper: false, isReusable: false, joinFiles: [] }
const open = { type: 'open', id: 1, file: '/bin/x', args: [], isWarm: false }

describe('a line from the hub', () => {
  it('is read as it was written', () => {
    checkEach(
      [
        prewarm,
        { ...prewarm, env: { A: 'b' }, seccomp: { fd: 3, program: '' }, joinFiles: ['/x'] },
        open,
        { ...open, args: ['a'], swappable: ['/x'], closed: ['/y'] },
        { type: 'run', id: 1, script: 'x', startMs: 9 },
        { type: 'stop', id: 1 },
        { type: 'stop', id: 1, graceMs: 0 },
        { type: 'stop', id: 0 },
        { type: 'connected', id: 1 },
        { type: 'release', id: 1 },
        { type: 'run', id: 1, script: '', helper: 'y', startMs: 9 },
        { ...prewarm, level: 'namespaces', hasHelper: true },
        { ...prewarm, level: 'none' },
        { ...open, isWarm: true },
      ],
      (message) => {
        expect(parseHubMessage(JSON.stringify(message))).toEqual(message)
      },
    )
  })

  it('is refused if it is not a message', () => {
    checkEach(
      [
        '',
        'null',
        '[]',
        '{"type":"stop"}',
        '{"type":"stop","id":-1}',
        '{"type":"stop","id":"1"}',
        '{"type":"stop","id":1,"graceMs":0.5}',
        '{"type":"run","id":1,"startMs":9}',
        '{"type":"constructor","id":1}',
        JSON.stringify({ ...open, args: [1] }),
        JSON.stringify({ ...open, closed: [1] }),
        JSON.stringify({ ...prewarm, env: { A: 1 } }),
        JSON.stringify({ ...prewarm, level: 'weak' }),
        JSON.stringify({ ...prewarm, seccomp: { fd: 3 } }),
        JSON.stringify({ ...prewarm, joinFiles: 'x' }),
        '{"type":"connected"}',
        '{"type":"release","id":1.5}',
        '{"type":"stop","id":1,"graceMs":-1}',
        '{"type":"run","id":1,"script":7,"startMs":9}',
        '{"type":"run","id":1,"script":"x","helper":7,"startMs":9}',
        '{"type":"run","id":1,"script":"x"}',
        '{"type":"hello","id":1}',
        JSON.stringify({ ...open, file: 7 }),
        JSON.stringify({ ...open, args: 'a' }),
        JSON.stringify({ ...open, swappable: [1] }),
        JSON.stringify({ ...open, swappable: 'x' }),
        JSON.stringify({ ...open, isWarm: undefined }),
        JSON.stringify({ ...open, isWarm: 1 }),
        JSON.stringify({ ...prewarm, env: [] }),
        JSON.stringify({ ...prewarm, env: null }),
        JSON.stringify({ ...prewarm, env: 'x' }),
        JSON.stringify({ ...prewarm, seccomp: { program: '' } }),
        JSON.stringify({ ...prewarm, seccomp: { fd: '3', program: '' } }),
        JSON.stringify({ ...prewarm, seccomp: 7 }),
        JSON.stringify({ ...prewarm, hasHelper: 1 }),
        JSON.stringify({ ...prewarm, joinFiles: [1] }),
        JSON.stringify({ ...prewarm, id: -1 }),
        JSON.stringify({ ...prewarm, type: 'open' }),
        JSON.stringify({ ...open, type: 'prewarm' }),
      ],
      (line) => {
        expect(() => parseHubMessage(line)).toThrow()
      },
    )
  })
})

describe('a line from the spawner', () => {
  it('is read as it was written', () => {
    checkEach(
      [
        { type: 'hello' },
        { type: 'ended', id: 1, exitCode: 0 },
        { type: 'ended', id: 0, signal: 'SIGKILL', uncovered: '/x' },
        { type: 'ended', id: 1 },
        { type: 'pipes', id: 1, paths: ['a', 'b', 'c'] },
        { type: 'running', id: 1 },
        { type: 'running', id: 1, pid: 7 },
        { type: 'refused', id: 1, reason: '' },
        { type: 'broken', id: 1, reason: 'x' },
      ],
      (message) => {
        expect(parseSpawnerMessage(JSON.stringify(message))).toEqual(message)
      },
    )
  })

  it('is refused if it is not a message', () => {
    checkEach(
      [
        '{"type":"pipes","id":1,"paths":["a"]}',
        '{"type":"pipes","id":1,"paths":["a","b","c","d"]}',
        '{"type":"pipes","id":1,"paths":["a","b",1]}',
        '{"type":"pipes","paths":["a","b","c"]}',
        '{"type":"running","id":1,"pid":"1"}',
        '{"type":"running"}',
        '{"type":"refused","id":1}',
        '{"type":"broken","id":1,"reason":7}',
        '{"type":"ended"}',
        '{"type":"ended","id":1,"exitCode":"0"}',
        '{"type":"ended","id":1,"exitCode":-1}',
        '{"type":"ended","id":1,"signal":9}',
        '{"type":"ended","id":1,"uncovered":9}',
        '{"type":"prewarm","id":1}',
        '{}',
        '[]',
        'null',
      ],
      (line) => {
        expect(() => parseSpawnerMessage(line)).toThrow(`not a message of the spawner: ${line}`)
      },
    )
  })

  it('is refused with its beginning', () => {
    const line = JSON.stringify('x'.repeat(300))
    expect(() => parseSpawnerMessage(line)).toThrow(new TypeError(`not a message of the spawner: "${'x'.repeat(199)}`))
    expect(() => parseHubMessage(line)).toThrow(new TypeError(`not a message to the spawner: "${'x'.repeat(199)}`))
  })
})
