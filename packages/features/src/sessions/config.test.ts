import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sessionsConfig } from './config.ts'

describe('the sessions of a config', () => {
  it('become options, with times in milliseconds and folders from the config', () => {
    process.env.TEST_RUNNER_KEY = 'k'.repeat(24)
    const written = sessionsConfig.schema.parse({
      visibility: 'principal',
      maxDepth: 2,
      runners: {
        helper: { type: 'command', argv: ['agent', '-p'], timeout: '10m', limits: { calls: 5, time: '1m' } },
        sandboxed: { type: 'command', argv: ['agent'], speaks: 'jsonl', sandbox: { readable: ['./data'] } },
        remote: {
          ...{ type: 'url', url: 'https://agents.example.org/turn', secret: 'TEST_RUNNER_KEY' },
          ...{ turnTimeout: '30s', turns: 9, tools: ['group:web'], trust: true },
        },
        unset: { type: 'url', url: 'https://agents.example.org/turn', secret: 'TEST_NO_SUCH_KEY' },
      },
    })
    expect(sessionsConfig.toOptions(written, (path) => resolve('/srv/app', path))).toEqual({
      visibility: 'principal',
      maxDepth: 2,
      runners: {
        helper: {
          ...{ type: 'command', argv: ['agent', '-p'], cwd: '/srv/app', timeoutMs: 600_000 },
          limits: { calls: 5, wallMs: 60_000 },
        },
        sandboxed: { type: 'command', argv: ['agent'], speaks: 'jsonl', sandbox: { readable: ['/srv/app/data'] } },
        remote: {
          ...{ type: 'url', url: 'https://agents.example.org/turn', secret: 'k'.repeat(24), turnTimeoutMs: 30_000 },
          ...{ maxTurns: 9, tools: ['group:web'], trust: true },
        },
        unset: { type: 'url', url: 'https://agents.example.org/turn', secret: '' },
      },
    })
    delete process.env.TEST_RUNNER_KEY
  })

  it.each([
    { runners: { 'a b': { type: 'command', argv: ['x'] } } },
    { runners: { x: { type: 'callback' } } },
    { runners: { x: { type: 'url', url: 'ftp://x' } } },
    { runners: { x: { type: 'command', argv: [] } } },
    { maxDepth: 99 },
    { visible: 'tree' },
  ])('are refused: %j', (written) => {
    expect(sessionsConfig.schema.safeParse(written).success).toBe(false)
  })
})
