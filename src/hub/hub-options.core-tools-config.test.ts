import { describe, expect, it } from 'vitest'
import { ToolError } from '../core/errors.ts'
import type { CoreToolsConfig } from '../core/options.ts'
import { createToolHub } from '../create-tool-hub.ts'
import { fromCoreToolsConfig } from './hub-options.ts'

describe('fromCoreToolsConfig', () => {
  it("takes every key of S0's configuration", () => {
    const config: Required<CoreToolsConfig> = {
      sandboxRoot: '/var/tool-hub/sandbox',
      maxReadBytes: 5_242_880,
      maxHttpBytes: 5_242_880,
      maxDownloadBytes: 104_857_600,
      allowedHosts: ['api.github.com', '*.openai.com'],
      blockedCidrs: ['10.0.0.0/8', '192.168.7.0/24', '127.0.0.1/32', 'fc00::/7', '::1/128'],
      defaultTimeoutMs: 15_000,
      httpUserAgent: 'tool-hub/1.0',
      enableAutoWriteLargeResponses: true,
    }
    expect(fromCoreToolsConfig(config)).toEqual({
      sandbox: {
        workspaces: '/var/tool-hub/sandbox',
        network: ['api.github.com', '*.openai.com'],
        blockedRanges: config.blockedCidrs,
      },
      limits: { httpTimeoutMs: 15_000, readBytes: 5_242_880, httpBytes: 5_242_880, downloadBytes: 104_857_600 },
      userAgent: 'tool-hub/1.0',
    })
  })

  it('sets nothing that was not said, so that it overwrites nothing', () => {
    const nothing = { sandbox: {}, limits: {} }
    expect(fromCoreToolsConfig({})).toEqual(nothing)
    expect(fromCoreToolsConfig({ sandboxRoot: undefined })).toEqual(nothing)
  })

  it('refuses a key it does not know and says the nearest', () => {
    expect(refusal({ maxReadByte: 1 }).fix.hint).toContain('Did you mean maxReadBytes')
    expect(refusal({ constructor: 1 }).message).toContain('Unknown key core.constructor')
  })

  it.each([
    { maxReadBytes: 0 },
    { maxHttpBytes: -1 },
    { defaultTimeoutMs: Number.NaN },
    { maxDownloadBytes: '5MB' },
    { allowedHosts: 'api.github.com' },
    { allowedHosts: [''] },
    { sandboxRoot: '' },
    { httpUserAgent: 'a\r\nX-Evil: 1' },
    { enableAutoWriteLargeResponses: 'yes' },
  ])('refuses %o', (config) => {
    expect(refusal(config).fix.key).toBe(`core.${Object.keys(config)[0]}`)
  })

  it.each(['10.0.0.0/99', '10.0.0.0/x', 'banana', ''])('refuses to pretend that %j is blocked', (range) => {
    const create = () => createToolHub({ core: { blockedCidrs: [range] } })
    expect(create).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
  })
})

function refusal(config: object): ToolError {
  try {
    fromCoreToolsConfig(config as CoreToolsConfig)
  } catch (error) {
    if (ToolError.is(error) && error.code === 'CONFIG_INVALID') return error
    throw error
  }
  throw new Error('was accepted')
}
