import { symlink } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { folderWith, sandboxSpec } from '../../../../../test/support/sandbox-spec.ts'
import type { ProtectedPlace } from '../../protected/checks/place-report.ts'
import type { KeptFindings } from '../../protected/keeper/made-by-commands.ts'
import { SandboxFactory, type SandboxSettings } from './sandbox-factory.ts'

function source(root: string, options: Partial<SandboxSettings> = {}): SandboxFactory {
  const given = { readable: [], writable: [], caches: [], passEnv: [], hide: [], hideSecrets: true }
  const { limits } = sandboxSpec(root)
  return new SandboxFactory({ roots: [{ path: root, mode: 'write' }], ...given, limits, level: 'none', ...options })
}

interface Given {
  places?: readonly ProtectedPlace[]
  secrets?: readonly string[]
  endpoints?: readonly string[]
  made?: readonly string[]
  git?: readonly string[]
}

function findings(found: Given) {
  const places = new Map((found.places ?? []).map((place) => [place.path, place]))
  return {
    ...{ places, secrets: found.secrets ?? [], endpoints: found.endpoints ?? [], unlisted: [] },
    ...{ gitFolders: found.git ?? [], reports: [], later: [], made: new Set(found.made) },
  } satisfies KeptFindings
}

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `/r/${index}`)
const closedBy = async (sandboxes: SandboxFactory, found: KeptFindings) => {
  const { leftOut } = await sandboxes.describe(found)
  return leftOut.map(({ path }) => path)
}

describe('a sandbox closes', () => {
  it('places, what links among them lead to, and hooks that a repository does not have yet', async () => {
    const root = await folderWith({ 'shared/x': 'x', '.git/HEAD': 'x', '.vscode/x': 'x' })
    await symlink('shared', join(root, '.claude'))
    await symlink('nowhere', join(root, '.codex'))
    const places = [
      { path: join(root, '.claude'), link: 'shared', isGit: false },
      { path: join(root, '.codex'), link: 'nowhere', isGit: false },
      { path: join(root, '.vscode'), isGit: false },
      { path: join(root, '.git/hooks'), isGit: true },
    ]
    const found = findings({ places, git: [join(root, '.git')] })
    expect(await closedBy(source(root), found)).toEqual(
      ['.claude', 'shared', '.codex', '.vscode', '.git/hooks'].map((path) => join(root, path)),
    )
  })

  it('secrets, unless the owner lets commands see them, and always what the owner hides', async () => {
    const root = await folderWith()
    const found = findings({ secrets: ['/r/.env'] })
    expect(await closedBy(source(root, { hide: ['/r/hidden'] }), found)).toEqual(['/r/hidden', '/r/.env'])
    expect(await closedBy(source(root, { hide: ['/r/hidden'], hideSecrets: false }), found)).toEqual(['/r/hidden'])
  })

  it('up to 500 of both; commands do not run with more', async () => {
    const root = await folderWith()
    const places = numbered(200).map((path) => ({ path, isGit: false }))
    const secrets = numbered(301).map((path) => `${path}.pem`)
    expect(await closedBy(source(root), findings({ places, secrets: secrets.slice(1) }))).toHaveLength(500)
    const tooMany = findings({ places, secrets })
    await expect(source(root).build(tooMany, undefined)).rejects.toMatchObject({
      code: 'SANDBOX_UNAVAILABLE',
      message: expect.stringMatching(
        /^The sandbox roots contain 200 protected places and 301 secrets.* at most 500 .* hide is \/r\/0\.pem\.$/,
      ),
      fix: { hint: expect.not.stringContaining('visible') },
    })
    expect(await closedBy(source(root, { hideSecrets: false }), tooMany)).toHaveLength(200)
    const many = findings({ places: numbered(501).map((path) => ({ path, isGit: false })) })
    await expect(source(root).build(many, undefined)).rejects.toMatchObject({
      message: expect.stringMatching(
        /^The sandbox roots contain 501 protected places and 0 secrets.* at most 500 of both\.$/,
      ),
    })
  })
})

describe('what commands made themselves', () => {
  it('is hidden as long as there is room, and never keeps commands from running', async () => {
    const root = await folderWith()
    const secrets = numbered(600).map((path) => `${path}.pem`)
    const owned = secrets.slice(590)
    const found = findings({ secrets, made: secrets.slice(0, 590) })
    const closed = await closedBy(source(root), found)
    expect(closed).toHaveLength(110)
    expect(closed).toEqual(expect.arrayContaining(owned))
  })

  it('stays visible if it is a socket or a pipe; those of the owner are hidden, also where secrets are not', async () => {
    const found = findings({ endpoints: ['/r/mine', '/r/theirs'], made: ['/r/theirs'] })
    for (const hideSecrets of [true, false])
      expect(await closedBy(source(await folderWith(), { hideSecrets }), found)).toEqual(['/r/mine'])
  })
})

describe('the environment of commands', () => {
  it('has the variables that the owner passes and that exist', async () => {
    vi.stubEnv('SANDBOX_FACTORY_TEST', 'passed')
    vi.stubEnv('SANDBOX_FACTORY_OTHER', 'kept')
    onTestFinished(() => void vi.unstubAllEnvs())
    const sandboxes = source(await folderWith(), { passEnv: ['SANDBOX_FACTORY_TEST', 'SANDBOX_FACTORY_MISSING'] })
    const { environment } = await sandboxes.describe(findings({}))
    expect(environment.filter((name) => name.startsWith('SANDBOX_FACTORY_'))).toEqual(['SANDBOX_FACTORY_TEST'])
  })

  it('names a writable folder for temporary files, also where /tmp is the machine’s own and read-only', async () => {
    const folder = await folderWith()
    const temporary = async (options: Partial<SandboxSettings>) => {
      const { env } = await source(folder, { level: 'full', ...options }).build(findings({}), undefined)
      return env.TMPDIR
    }
    const roots = (mode: 'read' | 'write') => [
      { path: folder, mode: 'write' as const },
      { path: '/tmp', mode },
    ]
    expect(await temporary({})).toBe('/tmp')
    expect(await temporary({ roots: roots('write') })).toBe('/tmp')
    expect(await temporary({ roots: roots('read') })).toBe('/run/home')
    expect(await temporary({ readable: ['/tmp'] })).toBe('/run/home')
    expect(await temporary({ readable: ['/tmp'], writable: ['/tmp'] })).toBe('/tmp')
  })

  it('has the user’s home only without a sandbox, and lets git trust the roots', async () => {
    const root = await folderWith()
    const [none, full] = await Promise.all(
      (['none', 'full'] as const).map((level) => source(root, { level }).build(findings({}), undefined)),
    )
    expect(none!.env).toMatchObject({ HOME: homedir() })
    expect(full!.env.HOME).not.toBe(homedir())
    expect(Object.values(full!.env)).toContain(root)
  })
})

describe('what a command reaches of the files', () => {
  it('is reported with real paths, as far as they exist', async () => {
    const root = await folderWith({ 'w/x': '', r: null, u: null, e: null, more: null })
    const at = (name: string) => join(root, name)
    await symlink('more', at('link'))
    const sandboxes = source(root, {
      roots: [
        { path: at('w'), mode: 'write', untrusted: true },
        { path: at('r'), mode: 'read' },
        { path: at('u'), mode: 'read', untrusted: true },
      ],
      ...{ readable: [at('e'), at('none')], writable: [at('link'), at('gone')], hide: ['/h'] },
    })
    const found = { ...findings({ secrets: ['/s'] }), unlisted: ['/l'] }
    expect(await sandboxes.reach(found)).toEqual({
      sees: ['w', 'r', 'u', 'e', 'more'].map(at),
      writes: ['w', 'more'].map(at),
      hidden: ['/h', '/l', '/s'],
      untrusted: [at('w')],
      sandbox: 'none',
    })
    const seen = source(root, { hideSecrets: false })
    expect((await seen.reach(found)).hidden).toEqual(['/l'])
  })
})

describe('package managers in a sandbox', () => {
  const RETRIES = {
    ...{ npm_config_fetch_retries: '0', YARN_HTTP_RETRY: '0', PIP_RETRIES: '0', UV_HTTP_RETRIES: '0' },
    ...{ POETRY_REQUESTS_MAX_RETRIES: '0', BUNDLE_RETRY: '0', CARGO_NET_RETRY: '0' },
  }

  it('do not try again where no host can be reached', async () => {
    const root = await folderWith()
    const env = async (level: 'full' | 'none', socket?: string) =>
      (await source(root, { level }).build(findings({}), socket)).env
    expect(await env('full')).toMatchObject(RETRIES)
    for (const name of Object.keys(RETRIES)) {
      expect(await env('full', '/run/x.sock')).not.toHaveProperty(name)
      expect(await env('none')).not.toHaveProperty(name)
    }
  })
})

describe('a description', () => {
  it('has the level, once it is known, and the hosts that are granted', async () => {
    const sandboxes = source(await folderWith(), { level: 'full' })
    expect(sandboxes.level).toBeUndefined()
    const networks = await Promise.all(
      [undefined, [], ['example.org']].map(
        async (hosts) => (await sandboxes.describe(findings({}), { hosts })).network,
      ),
    )
    expect(networks).toEqual([
      { mode: 'off', hosts: [] },
      { mode: 'off', hosts: [] },
      { mode: 'proxy', hosts: ['example.org'] },
    ])
    expect(sandboxes.level).toBe('full')
  })
})
