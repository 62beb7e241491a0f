import { ToolError } from '@tool-hub/core/errors'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { describe, expect, it } from 'vitest'
import type { CoreToolsConfig } from '../../../core/src/options.ts'
import { fromCoreToolsConfig, mergeSandbox } from './hub-options.ts'

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
        privateRanges: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
      },
      limits: { httpTimeoutMs: 15_000, downloadBytes: 104_857_600 },
      usual: { readBytes: 5_242_880, httpBytes: 5_242_880 },
      userAgent: 'tool-hub/1.0',
    })
  })

  it('sets nothing that was not said, so that it overwrites nothing', () => {
    const nothing = { sandbox: {}, limits: {}, usual: {} }
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

it('what either CoreToolsConfig or the sandbox blocks stays closed; its own open ranges replace all others', () => {
  const { sandbox } = fromCoreToolsConfig({ blockedCidrs: ['10.0.0.0/8'] })
  const merged = mergeSandbox(sandbox, { blockedRanges: ['192.0.2.0/24'], privateRanges: ['127.0.0.1/32'] })
  expect(merged).toEqual({ blockedRanges: ['10.0.0.0/8', '192.0.2.0/24'], privateRanges: ['127.0.0.1/32'] })
  expect(mergeSandbox(undefined, undefined)).toEqual({})
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
