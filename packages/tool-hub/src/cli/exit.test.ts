import { ERRORS, type ErrorCode } from '@tool-hub/core/errors'
import { describe, expect, it } from 'vitest'
import { EXIT, exitCodeOfFailure, worstExitCode } from './exit.ts'

describe('the exit code of a failure', () => {
  it.each<[ErrorCode, number]>([
    ['INPUT_SCHEMA_INVALID', 1],
    ['NOT_FOUND', 1],
    ['CONFLICT', 1],
    ['TIMEOUT', 1],
    ['INTERNAL', 1],
    ['TOOL_NOT_FOUND', 2],
    ['CONFIG_INVALID', 2],
    ['POLICY_DENIED', 3],
    ['PATH_OUTSIDE_SANDBOX', 3],
    ['APPROVAL_DENIED', 3],
    ['APPROVAL_TIMEOUT', 4],
    ['APPROVAL_UNAVAILABLE', 4],
  ])('is for %s always %i', (code, expected) => {
    expect(exitCodeOfFailure({ code })).toBe(expected)
  })

  it('is one of those that the help names, for every code there is', () => {
    const codes = Object.keys(ERRORS).map((code) => exitCodeOfFailure({ code: code as ErrorCode }))
    expect(new Set(codes)).toEqual(new Set([EXIT.failed, EXIT.usage, EXIT.denied, EXIT.unapproved]))
  })
})

describe('the exit code of many results', () => {
  it.each([
    [0, [0, 0]],
    [3, [0, 3]],
    [4, [3, 4]],
    [2, [3, 4, 2]],
    [1, [2, 4, 3, 1]],
    [0, []],
  ])('is %i for %j', (expected, codes) => {
    expect(worstExitCode(new Set(codes))).toBe(expected)
  })
})
