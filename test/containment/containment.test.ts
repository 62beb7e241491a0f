import { chmodSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { bundleModule } from '../support/run-module.ts'
import { type Attempt, mustEscape, readAttempts } from './attempts.ts'
import { type Attempted, runAttempts } from './run-attempts.ts'
import type { Verdict } from './verdict.ts'

// Dozens of programs attack each sandbox.
vi.setConfig({ testTimeout: 600_000 })

const isRoot = process.getuid?.() === 0
const ROOT = { uid: 0, gid: 0 }
const USER = isRoot ? { uid: 65534, gid: 65534 } : { uid: process.getuid?.() ?? -1, gid: process.getgid?.() ?? -1 }
/** A hub that is root runs commands as the user who owns the workspace. */
const PEOPLE: Record<string, { readonly person: typeof ROOT; readonly hub?: typeof ROOT }> = isRoot
  ? { root: { person: ROOT }, user: { person: USER }, 'user of a hub that is root': { person: USER, hub: ROOT } }
  : { user: { person: USER } }

const attempts = readAttempts(join(import.meta.dirname, 'attempts'))
const rows = attempts.map((attempt) => [attempt.name, attempt.tries, attempt] as const)
const full = new Map<string, Attempted>()
/** At level none: what came of each attempt by the users that tried it. */
const none = new Map<string, Verdict[]>()
const facts: Record<string, unknown> = {}

// If the machine has no sandbox, CI fails: nothing here may be skipped silently.
describe.skipIf(process.platform !== 'linux' && !process.env.CI)('commands that try to get out', () => {
  beforeAll(async () => {
    const module = await bundleModule('test/containment/attempting-hub.ts', {
      beside: {
        'sandbox/exec/spawner/spawner-main': 'packages/sandbox/src/exec/spawner/spawner-main.ts',
      },
    })
    // Another user must be able to run it.
    chmodSync(dirname(module), 0o755)
    const held = Object.entries(PEOPLE).map(async ([who, people]) => {
      full.set(who, await runAttempts(attempts, { module, ...people, level: 'full' }))
    })
    const free = async (tried: readonly Attempt[], person: typeof ROOT) => {
      const { verdicts, facts: known } = await runAttempts(tried, { module, person, level: 'none' })
      for (const [name, verdict] of verdicts) none.set(name, [...(none.get(name) ?? []), verdict])
      Object.assign(facts, known)
    }
    await Promise.all(held)
    await free(
      attempts.filter(({ atNone }) => !isRoot || !atNone.includes('as root')),
      USER,
    )
    // Root tries what the user could not.
    const left = attempts.filter(({ name }) => !none.get(name)?.some(({ verdict }) => verdict === 'ESCAPED'))
    if (isRoot) await free(left, ROOT)
  })

  it('are tried as root and as an ordinary user, where nothing may be left out', () => {
    expect(isRoot || !process.env.CI).toBe(true)
  })

  it('are as many as the documentation says', () => {
    expect(readFileSync('README.md', 'utf8')).toContain(`0 of the ${attempts.length} ways out`)
    expect(readFileSync('docs/reference/testing.md', 'utf8')).toContain(`${attempts.length} ways out of the sandbox`)
  })

  describe.each(Object.keys(PEOPLE))('as %s at level full', (who) => {
    it.each(rows)('%s is held: %s', (name, _, { needs, machine }) => {
      const verdict = full.get(who)!.verdicts.get(name)
      const isLeftOut = (needs !== 'any' && !who.startsWith(needs)) || (machine !== undefined && !verdict)
      if (!isLeftOut) expect(verdict).toEqual({ verdict: 'HELD', text: expect.any(String), sandbox: 'full' })
    })

    it('are enough of them', () => {
      expect(full.get(who)!.verdicts.size).toBeGreaterThanOrEqual(29)
    })

    it('leave everything outside and everything protected as it was', () => {
      expect(full.get(who)!.harm).toEqual([])
    })

    it('find no planted secret, and none is in outputs, errors or records', () => {
      const { secrets, written } = full.get(who)!
      const leaks = [...written].flatMap(([where, text]) =>
        Object.values(secrets).flatMap((secret) => (text.includes(secret) ? [`${secret} in ${where}`] : [])),
      )
      expect(leaks).toEqual([])
      expect([...written.keys()].filter((path) => path.endsWith('events.jsonl'))).toHaveLength(1)
    })
  })

  describe('without a sandbox', () => {
    it.each(attempts.map((attempt) => [attempt.name, attempt.atNone, attempt] as const))(
      '%s: %s',
      (name, _, attempt) => {
        const verdicts = (none.get(name) ?? []).map(({ verdict }) => verdict)
        expect(verdicts).not.toContain('BROKEN')
        if (mustEscape(attempt, facts, isRoot)) expect(verdicts).toContain('ESCAPED')
        if (attempt.atNone.startsWith('held')) expect(verdicts).toEqual(verdicts.map(() => 'HELD'))
      },
    )
  })
})
