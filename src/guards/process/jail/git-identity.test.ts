import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { folderWith } from '../../../../test/support/jail-spec.ts'
import { gitIdentity } from './git-identity.ts'

const user = (name: string, email: string) => `[user]\n\tname = "${name}"\n\temail = "${email}"\n`
const identity = (name: string, email: string) => ({
  ...{ GIT_AUTHOR_NAME: name, GIT_COMMITTER_NAME: name },
  ...{ GIT_AUTHOR_EMAIL: email, GIT_COMMITTER_EMAIL: email },
})

/** The identity in a repository, where the user of the hub has these settings. */
async function identityOf({ global = '', repository = '' }: { global?: string; repository?: string }) {
  const folder = await folderWith({ gitconfig: global, 'w/.git/config': repository })
  vi.stubEnv('GIT_CONFIG_GLOBAL', join(folder, 'gitconfig'))
  onTestFinished(() => void vi.unstubAllEnvs())
  return { own: await gitIdentity(undefined), inRoot: await gitIdentity(join(folder, 'w')) }
}

describe('who commits', () => {
  it('is the user of the hub, or who the repository says', async () => {
    const global = user('Ada', 'ada@example.org')
    expect((await identityOf({ global })).inRoot).toEqual(identity('Ada', 'ada@example.org'))
    const both = await identityOf({ global, repository: user('Bo', 'bo@example.org') })
    expect(both).toEqual({ own: identity('Ada', 'ada@example.org'), inRoot: identity('Bo', 'bo@example.org') })
  })

  it('is taken together from both', async () => {
    const { inRoot } = await identityOf({ global: user('Ada', 'ada@example.org'), repository: '[user]\n\tname = Bo\n' })
    expect(inRoot).toEqual(identity('Bo', 'ada@example.org'))
    const nameOnly = await identityOf({ global: '[user]\n\tname = Ada\n\tsigningkey = k\n' })
    expect(nameOnly.own).toEqual({ GIT_AUTHOR_NAME: 'Ada', GIT_COMMITTER_NAME: 'Ada' })
  })

  it('is nobody where nothing says it', async () => {
    expect(await identityOf({})).toEqual({ own: {}, inRoot: {} })
    expect(await gitIdentity('/no/such/folder')).toEqual({})
  })

  it('is nobody whose name is more than a name', async () => {
    const nameOf = async (name: string) => (await identityOf({ global: user(name, '') })).own.GIT_AUTHOR_NAME
    expect(await nameOf('x'.repeat(200))).toBe('x'.repeat(200))
    for (const name of ['x'.repeat(201), '<Ada', 'Ada>', 'A\\tda', '\\tAda', 'Ada\\t']) {
      expect(await nameOf(name), name).toBeUndefined()
    }
  })
})
