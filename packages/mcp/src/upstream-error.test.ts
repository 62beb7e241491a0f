import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError, UnauthorizedError } from '@modelcontextprotocol/client'
import { ToolError } from '@tool-hub/core/errors'
import { describe, expect, it } from 'vitest'
import { findToolError, statusOf, upstreamError } from './upstream-error.ts'

const LOOK = 'Try again; look at it with: tool-hub mcp test s.'
const SIGN_IN = 'Sign in with: tool-hub mcp login s; or correct its headers in tool-hub.yaml.'
const READ = 'Read the message; correct the arguments, or use another tool.'
const http = (status: number) => new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, 'said', { status })

describe('what went wrong between a hub and a server', () => {
  it.each([
    ['arguments that the server refuses', new ProtocolError(-32602, 'a is missing'), {
      code: 'INPUT_SCHEMA_INVALID', message: 's refused the arguments: a is missing',
    }],
    ['an error of a tool', new ProtocolError(-32603, 'no such row'), {
      code: 'EXEC_FAILED', message: 's answered with error -32603: no such row', retryable: false, fix: { hint: READ },
    }],
    ['an error with the code next to that of a page to open', new ProtocolError(-32043, 'said'), {
      code: 'EXEC_FAILED', message: 's answered with error -32043: said',
    }],
    ['an error with data of its own', new ProtocolError(-1, 'said', { isStreamEnded: 'no' }), {
      code: 'EXEC_FAILED', message: 's answered with error -1: said',
    }],
    ['a stream that ended, as the transport reports it', new ProtocolError(-32000, 'ended', { isStreamEnded: true }), {
      code: 'UPSTREAM_ERROR', message: 's failed: ended', retryable: true, fix: { hint: LOOK },
    }],
    ['a timeout of the SDK', new SdkError(SdkErrorCode.RequestTimeout, 'said'), {
      code: 'TIMEOUT', message: 's did not answer in time.', retryable: true,
    }],
    ['a sign-in that is missing', new UnauthorizedError('said'), {
      code: 'UPSTREAM_ERROR', message: 's wants somebody to sign in: said', retryable: false, fix: { hint: SIGN_IN },
    }],
    ['status 401', http(401), {
      code: 'UPSTREAM_ERROR', message: 's wants somebody to sign in: said', retryable: false, fix: { hint: SIGN_IN },
    }],
    ['status 403', http(403), {
      code: 'UPSTREAM_ERROR', message: 's does not let this hub in: said', retryable: false, fix: { hint: SIGN_IN },
    }],
    ['status 402', http(402), { code: 'UPSTREAM_ERROR', message: 's failed: said', retryable: true, fix: { hint: LOOK } }],
    ['status 404', http(404), { code: 'UPSTREAM_ERROR', message: 's failed: said', retryable: true, fix: { hint: LOOK } }],
    ['a result that is invalid', new SdkError(SdkErrorCode.InvalidResult, 'said'), {
      code: 'UPSTREAM_ERROR', message: 's answered with something that is not MCP: said', retryable: false, fix: { hint: LOOK },
    }],
    ['a result of another type', new SdkError(SdkErrorCode.UnsupportedResultType, 'said'), {
      code: 'UPSTREAM_ERROR', message: 's answered with something that is not MCP: said', retryable: false,
    }],
    ['any other error', new SdkError(SdkErrorCode.ConnectionClosed, 'said'), {
      code: 'UPSTREAM_ERROR', message: 's failed: said', retryable: true, fix: { hint: LOOK },
    }],
    ['a thrown text', 'said', { code: 'UPSTREAM_ERROR', message: 's failed: said', retryable: true }],
    ['a thrown nothing', null, { code: 'UPSTREAM_ERROR', message: 's failed: null', retryable: true }],
  ])('is an error of the table: %s', (_, thrown, expected) => {
    expect(upstreamError('s', thrown)).toMatchObject({ ...expected, cause: thrown })
  }) // biome-ignore format: a table

  it('keeps the error of the table that somebody wrapped, up to four times', () => {
    const known = new ToolError('ABORTED', 'stopped')
    const wrap = (times: number): Error => (times === 0 ? known : new Error('wrapped', { cause: wrap(times - 1) }))
    expect(upstreamError('s', wrap(4))).toBe(known)
    expect(findToolError(wrap(4))).toBe(known)
    expect(findToolError(wrap(5))).toBeUndefined()
    expect(upstreamError('s', wrap(5))).toMatchObject({ code: 'UPSTREAM_ERROR', message: 's failed: wrapped' })
    expect(findToolError({ cause: known })).toBeUndefined()
  })

  it('names at most three addresses to open, each of at most 500 characters', () => {
    const long = `https://a.org/${'x'.repeat(486)}`
    const elicitations = [{ url: `${long}y` }, { url: 'https://b.org/\n' }, { url: 1 }, { url: 'https://d.org/' }]
    const error = (data: unknown) => upstreamError('s', new ProtocolError(-32042, 'sign', data))
    expect(error({ elicitations })).toMatchObject({
      code: 'EXEC_FAILED',
      message: 's wants something done in a browser first: sign',
      fix: { hint: `Open it in a browser, then call again: ${long} https://b.org/\\n` },
      cause: expect.any(ProtocolError),
    })
    const three = ['https://a.org', 'https://b.org', 'https://c.org']
    const four = [...three, 'https://d.org'].map((url) => ({ url }))
    expect(error({ elicitations: four }).fix.hint).toBe(`Open it in a browser, then call again: ${three.join(' ')}`)
    for (const data of [undefined, [], { elicitations: 'https://a.org' }, { elicitations: ['https://a.org', null] }]) {
      expect(error(data).fix.hint).toBe('Open it in a browser, then call again: the server names no address')
    }
  })

  it('holds at most 1,000 characters of what the server said, on one line', () => {
    const said = `one\n${'x'.repeat(996)}`
    expect(upstreamError('s', new Error(`${said}y`)).message).toBe(`s failed: one\\n${'x'.repeat(996)}`)
  })

  it('knows the HTTP status of an answer, and of nothing else', () => {
    expect(statusOf(http(404))).toBe(404)
    expect(
      statusOf(new SdkHttpError(SdkErrorCode.ClientHttpForbidden, 'said', { status: '404' } as never)),
    ).toBeUndefined()
    expect(statusOf(new ProtocolError(-1, 'said', { status: 404 }))).toBeUndefined()
    expect(statusOf(Object.assign(new Error('said'), { name: 'SdkHttpError' }))).toBeUndefined()
    expect(statusOf({ name: 'SdkHttpError', data: { status: 404 } })).toBeUndefined()
    for (const thrown of [undefined, null, 'text']) expect(statusOf(thrown)).toBeUndefined()
  })
})
