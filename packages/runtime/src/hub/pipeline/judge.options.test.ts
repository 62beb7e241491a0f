import { describe, expect, it } from 'vitest'
import { checkOptions } from './judge.ts'

const ALL =
  'run, session, caller, purpose, requestId, taskId, goalId, idempotencyKey, repeatKey, callerKind, signal, timeoutMs, userText, client, untrusted, dryRun, onAsk, approve, onQuestion, onEvent, grants'

const noop = () => {}
const CAPABILITIES =
  'read:fs, write:fs, network, send, exec, memory, session, message, schedule, browser, canvas, code, discovery, remote, danger:destructive'

describe('the options of a call', () => {
  it.each<[string, readonly unknown[], readonly unknown[], string]>([
    ['run', ['r', ''], [1, null], 'a text'],
    ['session', ['s'], [1], 'a text'],
    ['caller', ['c'], [{}], 'a text'],
    ['purpose', ['p'], [1], 'a text'],
    ['requestId', ['1'], [1], 'a text'],
    ['taskId', ['1'], [1], 'a text'],
    ['goalId', ['1'], [1], 'a text'],
    ['idempotencyKey', ['k'], [1], 'a text'],
    ['repeatKey', ['k'], [1], 'a text'],
    ['callerKind', ['direct', 'script'], ['agent', true], 'direct or script'],
    ['signal', [new AbortController().signal], [{ aborted: false }], 'an AbortSignal'],
    ['timeoutMs', [0.5, 1, Number.POSITIVE_INFINITY], [0, -1, Number.NaN, '5'], 'a number above 0'],
    ['userText', ['a', ['a', 'b']], [1, [1], {}], 'a text or a list of texts'],
    ['client', ['app'], [1], 'a text'],
    ['untrusted', [true, false], ['true', 1], 'true or false'],
    ['dryRun', [true, false], ['true', 0], 'true or false'],
    ['onAsk', ['wait', 'return'], ['leave', true], 'wait or return'],
    ['approve', [noop], ['yes', true], 'a function'],
    ['onQuestion', [noop], [{}], 'a function'],
    ['onEvent', [noop], [{}], 'a function'],
    ['grants', [[], ['read:fs', 'exec']], ['exec', ['read:fs', 'read:sf'], [1]], `a list of ${CAPABILITIES}`],
  ])('take as %s only what it can be', (name, right, wrong, wanted) => {
    for (const value of [undefined, ...right])
      expect(() => checkOptions({ [name]: value }), String(value)).not.toThrow()
    for (const value of wrong)
      expect(() => checkOptions({ [name]: value }), String(value)).toThrow(
        expect.objectContaining({
          code: 'CONFIG_INVALID',
          message: `The option ${name} of a call must be ${wanted}.`,
          fix: { hint: `Options of a call: ${ALL}.` },
        }),
      )
  })

  it('are all looked at, and one that does not exist is refused unless it has no value', () => {
    expect(() => checkOptions({ run: 'r', timeout: 5 } as never)).toThrow(
      'The option timeout of a call does not exist.',
    )
    expect(() => checkOptions({ run: undefined, onAsk: 'never' } as never)).toThrow(/onAsk/)
    expect(() => checkOptions({ toString: 1 } as never)).toThrow(/toString of a call does not exist/)
    expect(() => checkOptions({ timeout: undefined } as never)).not.toThrow()
  })
})
