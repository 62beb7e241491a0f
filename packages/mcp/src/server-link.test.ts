import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ToolError } from '@tool-hub/core/errors'
import { afterAll, describe, expect, it } from 'vitest'
import { pinsOf } from '../../../test/support/source-store.ts'
import type { SourceHost } from '../../core/src/source.ts'
import { fakeClock } from '../../testing/src/fake-clock.ts'
import { ServerLink } from './server-link.ts'

const data = mkdtempSync(join(tmpdir(), 'tool-hub-link-'))
afterAll(() => rmSync(data, { recursive: true, force: true }))

/** A link to a program that can never be started. */
function brokenLink(error: ToolError) {
  const clock = fakeClock()
  let starts = 0
  const host = {
    data,
    clock,
    secret: () => undefined,
    hide: () => {},
    warn: () => {},
    startProgram: async () => {
      starts++
      throw error
    },
  } as unknown as SourceHost
  const server = { command: 'x' }
  const link = new ServerLink({
    name: 'x',
    server,
    names: ['x'],
    host,
    env: {},
    pins: pinsOf(data),
    onTools: () => {},
  })
  return { link, clock, starts: () => starts }
}

describe('a server that does not start', () => {
  it('is tried again, later each time, and after five failures only when somebody asks', async () => {
    const { link, clock, starts } = brokenLink(new ToolError('UPSTREAM_ERROR', 'x is broken.'))
    await expect(link.connect()).rejects.toThrow('x is broken.')
    expect(starts()).toBe(1)
    await clock.advance(249)
    expect(starts()).toBe(1)
    await clock.advance(60_000)
    expect(starts()).toBe(5)
    await clock.advance(3_600_000)
    expect(starts()).toBe(5)
    await expect(Promise.all([link.connect(), link.connect()])).rejects.toThrow('x is broken.')
    expect(starts()).toBe(6)
    await clock.advance(3_600_000)
    expect(starts()).toBe(6)
  })

  it('is not tried again by itself where only a person can mend it', async () => {
    const { link, clock, starts } = brokenLink(new ToolError('CONFIG_INVALID', 'x is missing.'))
    await expect(link.connect()).rejects.toThrow('x is missing.')
    await clock.advance(3_600_000)
    expect(starts()).toBe(1)
    expect(link.problem?.code).toBe('CONFIG_INVALID')
  })

  it('is not tried once its hub is closed', async () => {
    const { link, clock, starts } = brokenLink(new ToolError('UPSTREAM_ERROR', 'x is broken.'))
    await link.connect().catch(() => {})
    await link.close()
    await clock.advance(3_600_000)
    await expect(link.connect()).rejects.toMatchObject({ code: 'ABORTED' })
    expect(starts()).toBe(1)
  })
})
