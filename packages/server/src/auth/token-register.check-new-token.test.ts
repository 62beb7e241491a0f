import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import type { NewToken } from '../../../core/src/protocol/service.ts'
import { checkNewToken, type NewTokenCheck } from './token-register.ts'

const NOW = 2_000_000
const folder = temporaryFolder('new-token')
const place = (...names: string[]) => join(folder, ...names)
for (const name of ['hub/inner', 'hub/..inner', 'hub-2', 'writable']) mkdirSync(place(name), { recursive: true })
writeFileSync(place('hub/file.txt'), '')
symlinkSync(place('hub-2'), place('hub/out'))

const roots: NewTokenCheck['roots'] = [
  { path: place('gone'), mode: 'write' },
  { path: place('hub'), mode: 'read' },
  { path: place('writable'), mode: 'write' },
]

function check(wish: Partial<NewToken>, mayAllow = false) {
  return checkNewToken({ name: 'ci', scopes: ['call'], ...wish }, { now: NOW, mayAllow, base: folder, roots })
}

const invalid = (message: unknown) => ({ code: 'INPUT_SCHEMA_INVALID', message })

describe('a new token, no matter who creates it', () => {
  it.each<[Partial<NewToken>, string | RegExp]>([
    [{ name: 'a b' }, /^The token cannot be made: name: .*letters and digits of any language.*at most 64.*\.$/],
    [{ budget: { calls: 'many' as never } }, /^The token cannot be made: budget\.calls: .+\.$/],
    [{ gravity: 1 } as never, /^The token cannot be made: it: .+\.$/],
    [{ expiresAt: NOW }, 'The token would have expired 0 s ago.'],
    [{ expiresAt: NOW - 1_001_000 }, 'The token would have expired 1001 s ago.'],
    [{ expiresAt: NOW - 1 }, 'The token would have expired 1 s ago.'],
    [{ budget: { calls: 1, bytes: -1 } }, 'The budget of -1 bytes is below 0.'],
    [{ roots: [{ path: 'data', mode: 'read' }] }, 'The root "data" is not an absolute path.'],
    [{ roots: [{ path: '/no/such', mode: 'read' }] }, 'The root "/no/such" is not a folder that is there.'],
  ])('is refused with %j', async (wish, message) => {
    for (const mayAllow of [false, true])
      await expect(check(wish, mayAllow)).rejects.toMatchObject(
        invalid(typeof message === 'string' ? message : expect.stringMatching(message)),
      )
  })

  it('is refused with a file as a root', async () => {
    const path = place('hub/file.txt')
    await expect(check({ roots: [{ path, mode: 'read' }] }, true)).rejects.toMatchObject(
      invalid(`The root ${JSON.stringify(path)} is not a folder that is there.`),
    )
  })

  it('is refused with a rule that cannot be read, and with what to do about the rule', async () => {
    const refused = check({ policy: [{ deny: 'read:fs', on: '[' }] })
    await expect(refused).rejects.toMatchObject(invalid(expect.stringContaining('pattern')))
    const { fix } = await refused.catch((error) => error)
    expect(fix.hint).not.toBe('Correct the named arguments and call again.')
  })

  it('may end a moment from now, and use nothing', async () => {
    const wish = { expiresAt: NOW + 1, budget: { calls: 0, wallMs: 0, bytes: 0, cost: 0 } }
    expect(await check(wish)).toEqual({ name: 'ci', scopes: ['call'], ...wish })
  })
})

describe('a new token that its maker may not make', () => {
  it.each<[Partial<NewToken>, string]>([
    [
      { policy: [{ deny: 'exec' }, { ask: '*' }, { allow: '*' }] },
      'Rule 3 allows; from here the rules of a token may only ask and deny.',
    ],
    [{ policy: [{ allow: '*' }] }, 'Rule 1 allows; from here the rules of a token may only ask and deny.'],
    [{ allowDanger: true }, 'From here no token is given commands and calls that destroy something.'],
    [{ roots: [{ path: '/', mode: 'read' }] }, 'The root "/" is not one that the hub itself may read.'],
  ])('is left to the owner: %j', async (wish, message) => {
    await expect(check(wish)).rejects.toMatchObject({
      code: 'FORBIDDEN',
      message,
      fix: { hint: 'The owner makes and rotates such tokens on the machine of the hub: tool-hub tokens.' },
    })
    expect(await check(wish, true)).toMatchObject(wish)
  })

  it('may ask and deny, and be without danger', async () => {
    const wish = { policy: [{ ask: '*' }, { deny: 'exec' }], allowDanger: false }
    expect(await check(wish)).toMatchObject(wish)
  })
})

describe('the folders of a new token', () => {
  it.each<[string, 'read' | 'write', boolean]>([
    ['hub', 'read', true],
    ['hub/inner', 'read', true],
    ['hub/..inner', 'read', true],
    ['hub/inner', 'write', false],
    ['hub-2', 'read', false],
    ['hub/out', 'read', false],
    ['', 'read', false],
    ['writable', 'read', true],
    ['writable', 'write', true],
  ])('may be %j to %s: %s', async (name, mode, isFine) => {
    const wish: Partial<NewToken> = { roots: [{ path: place(name), mode }] }
    if (isFine) expect(await check(wish)).toMatchObject(wish)
    else await expect(check(wish)).rejects.toMatchObject({ code: 'FORBIDDEN' })
  })

  it('are all looked at', async () => {
    const [fine, other] = [place('hub'), place('hub-2')].map((path) => ({ path, mode: 'read' as const }))
    await expect(check({ roots: [fine!, other!] })).rejects.toMatchObject({ code: 'FORBIDDEN' })
  })
})
