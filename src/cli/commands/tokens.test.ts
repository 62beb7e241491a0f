import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { cliFolder } from '../../../test/support/cli.ts'
import { openStore } from '../../store/sqlite.ts'

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
    [['revoke', 'nobody'], 'There is no token "nobody"'],
  ])('exits 2 for %j', async (words, message) => {
    const { code, stdout, stderr } = await folder.run(['tokens', ...words])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(message)
  })
})
