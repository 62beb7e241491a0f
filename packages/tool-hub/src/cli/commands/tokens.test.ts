import { join } from 'node:path'
import { openStore } from '@tool-hub/library/stores'
import { afterAll, describe, expect, it } from 'vitest'
import { cliFolder } from '../../../../../test/support/cli.ts'
import { hashSecret } from '../../../../server/src/auth/token.ts'

const folder = cliFolder('sandbox: { root: . }\ndata: ./kept\n')
afterAll(folder.remove)

describe('tool-hub tokens', () => {
  it('makes a token, lists it without its secret, and revokes it, also while another process has the store open', async () => {
    const store = openStore(join(folder.path, 'kept'))
    try {
      folder.write(
        'rules.yaml',
        'policy:\n  - { ask: write:fs, on: "./out/**" }\n  - { allow: exec, on: "git status" }\n',
      )
      const limits = [
        '--budget',
        'calls=1000,time=10m,bytes=5MB',
        '--rate',
        '10/s',
        '--root',
        '.:read',
        '--expires',
        '30d',
      ]
      const words = [
        '--scopes',
        'call,read',
        '--profile',
        'coding',
        '--policy',
        'rules.yaml',
        '--allow-danger',
        ...limits,
      ]
      const added = await folder.run(['tokens', 'add', 'ci', ...words])
      expect(added.stderr).toContain('Authorization: Bearer $TOOL_HUB_TOKEN')
      expect(added.stderr).toContain('"url": "URL/mcp"')
      expect(added.stdout).toMatch(/^th_[\w-]{43}\n$/)
      expect(added.code).toBe(0)

      const { stdout } = await folder.run(['tokens', '--json'])
      expect(JSON.parse(stdout)).toMatchObject([
        {
          name: 'ci',
          scopes: ['call', 'read'],
          profile: 'coding',
          policy: [{ ask: 'write:fs' }, { allow: 'exec' }],
          budget: { calls: 1_000, wallMs: 600_000, bytes: 5_000_000 },
          rate: { perSecond: 10 },
          roots: [{ path: folder.path, mode: 'read' }],
          allowDanger: true,
        },
      ])
      expect(stdout).not.toContain(added.stdout.trim())
      const [stored] = await store.tokens.list()
      expect(JSON.parse(stored!.body).base).toBe(folder.path)
      const listed = await folder.run(['tokens', 'list'])
      expect(listed.stdout).toMatch(
        /^token-[0-9a-f]{16} {2}ci {2}call,read {2}until \S+ \S+ {2}never used .*danger allowed/,
      )
      expect(listed.stdout).toContain(
        `a day 1000 calls + 600 s + 5000000 bytes, 10/s, root ${folder.path} (only to read)`,
      )

      const revoked = await folder.run(['tokens', 'revoke', 'ci', '--json'])
      expect(JSON.parse(revoked.stdout)).toEqual({ revoked: stored!.id, name: 'ci' })
      expect(await store.tokens.list()).toEqual([])
    } finally {
      await store.close()
    }
  })

  it('takes names in any language, and refuses signs that nobody sees', async () => {
    expect((await folder.run(['tokens', 'add', '张三'])).code).toBe(0)
    expect((await folder.run(['tokens', 'add', 'Zoe\u0308'])).stderr).toContain('Token Zo\u00eb may')
    expect((await folder.run(['tokens'])).stdout).toMatch(/ {2}张三 {2}.*\n.* {2}Zoë /)
    expect((await folder.run(['tokens', 'rotate', '张三'])).stdout).toMatch(/^th_/)
    expect((await folder.run(['tokens', 'revoke', 'Zoe\u0308'])).stdout).toMatch(/^Revoked Zo\u00eb /)
    expect((await folder.run(['tokens', 'revoke', '张三'])).code).toBe(0)
    const refused = await folder.run(['tokens', 'add', '张\u200b三'])
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('letters and digits of any language')])
  })

  it('makes a token that expires after 90 days, as the console does, unless it is to last', async () => {
    const ends = async (...words: string[]) =>
      JSON.parse((await folder.run(['tokens', 'add', '--json', ...words])).stdout).token.expiresAt
    const before = Date.now()
    const end = await ends('ninety')
    expect(end).toBeGreaterThanOrEqual(before + 90 * 86_400_000)
    expect(end).toBeLessThanOrEqual(Date.now() + 90 * 86_400_000)
    expect(await ends('lasting', '--expires', 'never')).toBeUndefined()
  })

  it('tells the secret as JSON, and that a name is taken', async () => {
    const made = await folder.run(['tokens', 'add', 'twice', '--json'])
    expect(JSON.parse(made.stdout)).toMatchObject({
      token: { name: 'twice', scopes: ['call'] },
      secret: expect.stringMatching(/^th_/),
    })
    const again = await folder.run(['tokens', 'add', 'twice'])
    expect(again).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('tokens revoke twice') })
  })
})

describe('tool-hub tokens rotate', () => {
  it('prints a new secret, and lists until when the one before is valid', async () => {
    await folder.run(['tokens', 'add', 'turning', '--allow-danger'])
    const rotated = await folder.run(['tokens', 'rotate', 'turning', '--overlap', '2h'])
    expect(rotated).toMatchObject({ code: 0, stdout: expect.stringMatching(/^th_[\w-]{43}\n$/) })
    expect(rotated.stderr).toMatch(/Token turning has a new secret; the one before stays valid until \S+ \S+ UTC\./)
    const listed = await folder.run(['tokens', 'list'])
    expect(listed.stdout).toMatch(/turning .*previous secret until \S+ \S+ \(never used\)/)
    const again = await folder.run(['tokens', 'rotate', 'turning'])
    expect(again).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('rotate turning --overlap 0') })
    const last = await folder.run(['tokens', 'rotate', 'turning', '--overlap', '0', '--json'])
    const { token, secret } = JSON.parse(last.stdout)
    expect({ token, secret }).toMatchObject({
      token: { name: 'turning', allowDanger: true },
      secret: expect.stringMatching(/^th_/),
    })
    expect(token.previous).toBeUndefined()
    const store = openStore(join(folder.path, 'kept'))
    try {
      expect(await store.tokens.findByHash(hashSecret(secret))).toMatchObject({ name: 'turning' })
      expect(await store.tokens.findByHash(hashSecret(rotated.stdout.trim()))).toMatchObject({
        previousExpiresAt: token.rotatedAt,
      })
    } finally {
      await store.close()
    }
  })
})

describe.concurrent('bad input to tokens', () => {
  folder.write('other.yaml', 'policy: [{ deny: exec }]\nlimits: { calls: 3 }\n')
  folder.write('typo.yaml', 'policy:\n  - { deny: exec, onn: git }\n')
  it.each([
    [['add', 'a b'], 'name'],
    [['add', 'x', '--profile', 'everything'], 'profile'],
    [['add', 'x', '--root', './nowhere'], 'not a folder that is there'],
    [['add', 'x', '--policy', 'nowhere.yaml'], 'does not exist'],
    [['add', 'x', '--policy', 'other.yaml'], '"limits", which no token heeds'],
    [['add', 'x', '--policy', 'typo.yaml'], 'typo.yaml:2'],
    [['revoke', 'nobody'], 'Token "nobody" not found'],
    [['rotate', 'nobody'], 'Token "nobody" not found'],
    [['rotate', 'x', '--overlap', 'soon'], '"soon" is not a time'],
  ])('exits 2 for %j', async (words, message) => {
    const { code, stdout, stderr } = await folder.run(['tokens', ...words])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(message)
  })
})
