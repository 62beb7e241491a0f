import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import type { SessionsOptions } from './runner.ts'
import { planSession, runnerBriefs } from './spawn-session.ts'
import type { StoredSession } from './store-types.ts'
import type { SpawnWish } from './types.ts'

const run = async () => ''
const OPTIONS: SessionsOptions = { runners: { default: { run }, other: { run, description: 'Others.' } } }
const ID = /^session-20260101-000000-[0-9a-f]{12}$/
const plan = (wish: Partial<SpawnWish> = {}, more: object = {}, options = OPTIONS) =>
  planSession(
    { task: 'Do it.', ...wish },
    { above: [], rights: { caller: 'me' }, isTainted: false, ...more },
    { options, clock: fakeClock(), owner: 'process-1' },
  )
const parent = { id: 'p1', root: 'r1', depth: 2, rootPrincipal: 'token:ci' } as StoredSession

describe('a new session', () => {
  it('of the owner is a root of its own', () => {
    const { session, rights, limits } = plan()
    const { id } = session
    expect(id).toMatch(ID)
    expect(session).toEqual({
      ...{
        id,
        root: id,
        depth: 0,
        principal: `owner/${id}`,
        rootPrincipal: 'owner',
        runner: 'default',
        task: 'Do it.',
      },
      ...{ limits: '{}', isTainted: false, createdAt: Date.UTC(2026, 0, 1), owner: 'process-1' },
    })
    expect(rights).toEqual({
      caller: `session:${id}`,
      principal: { name: `owner/${id}`, budgetFor: 'ever', chargedRuns: [] },
    })
    expect(limits).toEqual({})
  })

  it('of a session lies below it, with no more rights', () => {
    const within = { name: 'token:ci' }
    const runners = { default: { run, tools: ['a'], policy: [{ deny: 'b' }] } }
    const { session, rights } = plan(
      { label: 'helper' },
      {
        parent,
        above: ['p1', 'r1'],
        rights: { caller: 'me', principal: within, grants: ['session'] },
        isTainted: true,
      },
      { runners },
    )
    expect(session).toMatchObject({
      ...{ label: 'helper', parent: 'p1', root: 'r1', depth: 3, rootPrincipal: 'token:ci', isTainted: true },
    })
    expect(rights).toEqual({
      caller: 'session:helper',
      grants: ['session'],
      principal: {
        ...{ name: `token:ci/${session.id}`, visibility: { allow: ['a'] }, policy: [{ deny: 'b' }] },
        ...{ budgetFor: 'ever', chargedRuns: ['p1', 'r1'], within },
      },
    })
  })

  it('has the narrower of what its runner and its beginner say', () => {
    const runners = { default: { run, limits: { calls: 5, cost: 1 } } }
    const { session, rights, limits } = plan({ limits: { calls: 7, wallMs: 9, cost: 0 } }, {}, { runners })
    expect(limits).toEqual({ calls: 5, wallMs: 9, cost: 0 })
    expect(session.limits).toBe(JSON.stringify(limits))
    expect(rights.principal.budget).toEqual(limits)
  })

  it('has a task of up to 20,000 characters and a label of up to 40', () => {
    expect(plan({ task: 'x'.repeat(20_000) }).session.task).toHaveLength(20_000)
    expect(plan({ label: 'x'.repeat(40) }).session.label).toHaveLength(40)
  })

  const TASK_HINT = 'Describe the task; write long content to a file and name the file.'
  const LABEL_HINT = 'Use letters, digits, ., _ and -, at most 40, and neither owner nor parent.'
  const LIMIT_HINT = 'Give a number that bounds it, or leave it out.'
  it.each<[Partial<SpawnWish>, string, string]>([
    [{ task: '' }, 'A task has 1 to 20000 characters, not 0.', TASK_HINT],
    [{ task: ' \n' }, 'A task has 1 to 20000 characters, not 2.', TASK_HINT],
    [{ task: 'x'.repeat(20_001) }, 'A task has 1 to 20000 characters, not 20001.', TASK_HINT],
    [{ limits: { calls: -1 } }, 'limits.calls is -1.', LIMIT_HINT],
    [{ limits: { wallMs: Number.NaN } }, 'limits.wallMs is NaN.', LIMIT_HINT],
    [{ limits: { cost: Number.POSITIVE_INFINITY } }, 'limits.cost is Infinity.', LIMIT_HINT],
    [{ label: 'owner' }, 'Invalid session label "owner".', LABEL_HINT],
    [{ label: 'parent' }, 'Invalid session label "parent".', LABEL_HINT],
    [{ label: 'two words' }, 'Invalid session label "two words".', LABEL_HINT],
    [{ label: 'x'.repeat(61) }, `Invalid session label "${'x'.repeat(60)}".`, LABEL_HINT],
  ])('is refused with %j', (wish, message, hint) => {
    expect(() => plan(wish)).toThrow(expect.objectContaining({ code: 'INPUT_SCHEMA_INVALID', message, fix: { hint } }))
  })

  it('needs a runner', () => {
    const noRunner = expect.objectContaining({
      code: 'CONFIG_INVALID',
      message: 'No runner is configured, so no session can be started.',
      fix: {
        key: 'sessions.runners',
        hint: 'Add one to sessions.runners in tool-hub.yaml, e.g. helper: { type: command, argv: [my-agent, -p] }; see docs/reference/sessions.md.',
      },
    })
    expect(() => plan({}, {}, {})).toThrow(noRunner)
    expect(() => plan({}, {}, { runners: {} })).toThrow(noRunner)
    for (const [runner, hint] of [
      ['othr', 'Did you mean other?'],
      ['zzzzzzzzzz', 'There are: default, other.'],
      ['constructor', 'There are: default, other.'],
    ] as const)
      expect(() => plan({ runner })).toThrow(
        expect.objectContaining({ code: 'NOT_FOUND', message: `Unknown runner "${runner}".`, fix: { hint } }),
      )
    expect(runnerBriefs(OPTIONS)).toEqual([{ name: 'default' }, { name: 'other', description: 'Others.' }])
    expect(runnerBriefs({})).toEqual([])
  })

  it('is begun by nobody whose name has more than 160 characters', () => {
    const long = (chars: number) => ({ parent: { ...parent, rootPrincipal: 'x'.repeat(chars) } })
    expect(plan({}, long(160)).session.rootPrincipal).toHaveLength(160)
    expect(() => plan({}, long(161))).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message: 'The name of the principal has 161 characters; a principal that starts sessions may have at most 160.',
        fix: { hint: 'Give it a shorter name.' },
      }),
    )
  })
})
