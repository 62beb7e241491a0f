import { describe, expect, it } from 'vitest'
import type { SourcedRule } from '../../core/src/principal.ts'
import { compilePolicy } from './compile-policy.ts'

const compile = (rule: unknown, more: Partial<SourcedRule> = {}) =>
  compilePolicy({
    owner: [{ rule: rule as SourcedRule['rule'], source: { file: 'tool-hub.yaml', line: 3 }, base: '/srv', ...more }],
  })

const VERB = /needs exactly one of allow, ask, deny with a subject/
const PATTERNS = /has on or except without patterns/

describe('the shape of a rule', () => {
  it.each([
    { deny: 'exec', on: 'rm *' },
    { deny: 'exec', on: ['rm *'], except: ['rm x'], reason: 'no' },
    { ask: 'exec', when: { tainted: true, caller: 'direct' } },
    { ask: 'exec', when: { tainted: false, caller: 'script' } },
    { ask: 'exec', when: {} },
    { allow: 'read:fs', limit: { maxBytes: 0 } },
    { allow: 'read:fs', limit: { maxBytes: 1, timeoutMs: 5, maxResults: 2, retries: 3 } },
    { allow: 'read:fs', limit: { maxBytes: undefined } },
  ])('may be %j', (rule) => {
    expect(() => compile(rule)).not.toThrow()
  })

  it.each([
    [{}, VERB],
    [{ allow: ' ' }, VERB],
    [{ allow: 'exec', deny: 'exec' }, VERB],
    [{ allow: '' }, VERB],
    [{ allow: 7 }, VERB],
    [{ deny: 'exec', on: '' }, PATTERNS],
    [{ deny: 'exec', on: [] }, PATTERNS],
    [{ deny: 'exec', on: ['a', ''] }, PATTERNS],
    [{ deny: 'exec', on: [7] }, PATTERNS],
    [{ deny: 'exec', except: 7 }, PATTERNS],
    [{ deny: 'exec', only: 'x' }, /only/],
    [{ deny: 'exec', when: 'tainted' }, /has a when that is not an object/],
    [{ deny: 'exec', when: null }, /has a when that is not an object/],
    [{ deny: 'exec', when: [] }, /has a when that is not an object/],
    [{ deny: 'exec', when: { taint: true } }, /when.*taint/],
    [{ deny: 'exec', when: { tainted: 'yes' } }, /when\.tainted that is not true or false/],
    [{ deny: 'exec', when: { caller: 'model' } }, /unknown when\.caller/],
    [{ allow: 'exec', limit: 5 }, /has a limit that is not an object/],
    [{ allow: 'exec', limit: null }, /has a limit that is not an object/],
    [{ allow: 'exec', limit: [] }, /has a limit that is not an object/],
    [{ allow: 'exec', limit: { bytes: 5 } }, /limit.*bytes/],
    [{ allow: 'exec', limit: { maxBytes: -1 } }, /limit\.maxBytes = -1/],
    [{ allow: 'exec', limit: { maxBytes: 1.5 } }, /limit\.maxBytes = 1\.5/],
    [{ allow: 'exec', limit: { maxBytes: '5' } }, /limit\.maxBytes = 5/],
    ['allow exec', /^The rule at tool-hub\.yaml:3 is not an object/],
    [null, /^The rule at tool-hub\.yaml:3 is not an object/],
    [[], /^The rule at tool-hub\.yaml:3 is not an object/],
  ])('is not %j', (rule, message) => {
    expect(() => compile(rule)).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringMatching(message) }),
    )
  })

  it('has an absolute folder that its patterns start from', () => {
    expect(() => compile({ deny: 'exec' }, { base: 'srv' })).toThrow(/has the base "srv"/)
  })

  it.each([{ about: [] }, { about: ['exec', 'fly'] as never }])('is about capabilities: %j', (more) => {
    expect(() => compile({ deny: '*' }, more)).toThrow(/capabilities that do not exist/)
    expect(() => compile({ deny: '*' }, { about: ['exec'] })).not.toThrow()
  })
})
