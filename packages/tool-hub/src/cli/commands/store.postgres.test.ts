import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type CliFolder, cliFolder } from '../../../../../test/support/cli.ts'
import { startPostgres, type TestPostgres } from '../../../../../test/support/postgres.ts'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'

let server: TestPostgres
beforeAll(async () => {
  server = await startPostgres({ tcp: true, access: 'host all all all scram-sha-256\nlocal all all trust\n' })
  server.sql(`CREATE ROLE hub LOGIN PASSWORD 'topsecret'`)
  server.sql('CREATE DATABASE hub OWNER hub')
  server.sql(`CREATE ROLE weak LOGIN PASSWORD 'topsecret'`)
})
afterAll(() => server.close())

let folder: CliFolder
afterEach(() => folder.remove())

let schemas = 0
function urlOf(user = 'hub'): string {
  return server.urlOf({ database: 'hub', user, password: 'topsecret' })
}

/** A folder whose config names a schema of its own. */
function folderWith(url = urlOf()): CliFolder {
  return cliFolder(`store: { url: "${url}", schema: cli_${++schemas} }\n`)
}

const hasFile = () => existsSync(join(folder.path, '.tool-hub', 'store.db'))

describe('commands with a store in PostgreSQL', () => {
  it('use it, and never a file', async () => {
    folder = folderWith()
    expect(await folder.run(['tokens', 'add', 'ci'])).toMatchObject({ code: 0 })
    expect((await folder.run(['tokens', 'list'])).stdout).toContain('ci')
    expect((await folder.run(['call', 'core/util.time.now'])).code).toBe(0)
    for (const words of [['approvals'], ['grants'], ['cron'], ['memory', 'list'], ['sessions']])
      expect(await folder.run(words)).toMatchObject({ code: 0 })
    expect((await folder.run(['audit', 'verify'])).code).toBe(0)
    expect((await folder.run(['runs', 'reindex'])).code).toBe(0)
    expect(hasFile()).toBe(false)
    expect(server.sql(`SELECT name FROM cli_${schemas}.tokens`, 'hub')).toContain('ci')
  })

  it('say what is wrong with it, without the password', async () => {
    folder = folderWith(urlOf('weak'))
    for (const words of [
      ['store', 'check'],
      ['tokens', 'list'],
      ['call', 'core/util.time.now'],
      ['serve', '--port', '0'],
    ]) {
      const { code, stdout, stderr } = await folder.run(words)
      expect(code).not.toBe(0)
      expect(stderr).toMatch(/GRANT|CREATE SCHEMA/)
      expect(stdout + stderr).not.toContain('topsecret')
    }
    expect(hasFile()).toBe(false)
  })

  it('share it with a service, whose health names no password', async () => {
    folder = folderWith()
    const serving = folder.start(['serve', '--port', '0', '--json'])
    await serving.says('"url"')
    const { url } = JSON.parse(serving.said().stdout.split('\n')[0]!)
    const token = (await folder.run(['tokens', 'add', 'ci', '--scopes', 'read,call'])).stdout.trim()
    const headers = { authorization: `Bearer ${token}` }
    expect((await fetch(`${url}/v1/tools`, { headers })).status).toBe(200)
    const health = await fetch(`${url}/v1/health`, { headers })
    expect(health.status).toBe(200)
    expect(await health.text()).not.toContain('topsecret')
    serving.child.kill('SIGTERM')
    const { stdout, stderr } = await serving.ended
    expect(stdout + stderr).not.toContain('topsecret')
    expect(hasFile()).toBe(false)
  })

  it('examine it with doctor', async () => {
    folder = folderWith()
    expect((await folder.run(['store', 'migrate'])).stdout).toMatch(/were created in version \d+/)
    const good = await folder.run(['doctor'])
    expect(good.stdout).toMatch(/good +store +\S+:\d+\/hub \(schema cli_\d+\) has\s+version \d+/)
    expect(good.stdout).toMatch(/weak +store +rows of the database are not signed[\s\S]+deploy\/worker-role\.sql/)
    folder.remove()
    folder = folderWith('postgres://hub:topsecret@127.0.0.1:1/hub')
    const bad = await folder.run(['doctor'])
    expect(bad).toMatchObject({ code: 1, stdout: expect.stringMatching(/broken +store/) })
    expect(bad.stdout + bad.stderr).not.toContain('topsecret')
  })
})

describe('tool-hub store with PostgreSQL', () => {
  it('migrates, and shows what it would do', async () => {
    folder = folderWith()
    expect((await folder.run(['store', 'migrate', '--dry-run'])).stdout).toMatch(
      /has no tables; tool-hub store migrate would create those of version/,
    )
    expect((await folder.run(['store', 'migrate', '--dry-run'])).stdout).toContain('has no tables')
    expect(JSON.parse((await folder.run(['store', 'migrate', '--json'])).stdout)).toMatchObject({
      from: 0,
      dryRun: false,
    })
    server.sql(`UPDATE cli_${schemas}.store_version SET version = version + 1`, 'hub')
    const newer = await folder.run(['store', 'check'])
    expect(newer).toMatchObject({ code: 1, stderr: expect.stringContaining('this tool-hub knows up to') })
  })

  it('copies a file to the database and back, and backs it up', async () => {
    folder = cliFolder(null)
    expect((await folder.run(['tokens', 'add', 'ci'])).code).toBe(0)
    folder.write('tool-hub.yaml', `store: { url: "${urlOf()}", schema: cli_${++schemas} }\n`)
    expect((await folder.run(['tokens', 'list'])).stdout).not.toContain('ci')
    const copied = await folder.run(['store', 'copy', '--from', './.tool-hub'])
    expect(copied).toMatchObject({ code: 0, stdout: expect.stringContaining('both stores are equal') })
    expect((await folder.run(['tokens', 'list'])).stdout).toContain('ci')
    const again = await folder.run(['store', 'copy', '--from', './.tool-hub'])
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('is not empty') })

    expect((await folder.run(['store', 'backup', 'backup.db'])).code).toBe(0)
    expect(readdirSync(folder.path).filter((name) => name.startsWith('backup'))).toEqual(['backup.db'])
    expect((await folder.run(['store', 'backup', 'backup.db'])).code).toBe(1)
    expect((await folder.run(['store', 'copy', '--to', './back'])).code).toBe(0)
    const other = `${urlOf()}?schema=cli_${++schemas}`
    const restored = await folder.run(['store', 'copy', '--from', 'backup.db', '--to', other, '--json'])
    expect(JSON.parse(restored.stdout)).toMatchObject({ tables: { tokens: 1 } })
    folder.write('tool-hub.yaml', 'data: ./back\n')
    expect((await folder.run(['tokens', 'list'])).stdout).toContain('ci')
    expect((await folder.run(['store', 'check'])).code).toBe(0)
  })

  it('needs to know from where or to where', async () => {
    folder = cliFolder(null)
    expect((await folder.run(['store', 'copy'])).code).toBe(2)
    const wrong = await folder.run(['store', 'copy', '--to', 'postgres://u:topsecret@db:x/y'])
    expect(wrong.code).not.toBe(0)
    expect(wrong.stdout + wrong.stderr).not.toContain('topsecret')
  })
})

describe('tool-hub store check over TLS', () => {
  let secure: TestPostgres
  let certificates: string
  beforeAll(async () => {
    certificates = temporaryFolder('certificates')
    chmodSync(certificates, 0o755)
    for (const name of ['ca', 'other']) makeAuthority(name)
    sign('server', { subject: '/CN=db.test', extra: ['-addext', 'subjectAltName=DNS:db.test'] })
    sign('client', { subject: '/CN=known' })
    const [cert, key] = ['server.pem', 'server.key'].map((name) => join(certificates, name)) as [string, string]
    const access = 'hostssl all hub all trust\nhostssl all known all cert\nlocal all all trust\n'
    const settings = [`ssl_ca_file=${join(certificates, 'ca.pem')}`]
    secure = await startPostgres({ tcp: true, tls: { cert, key }, access, settings })
    for (const name of ['hub', 'known']) secure.sql(`CREATE ROLE ${name} LOGIN SUPERUSER`)
  })
  afterAll(() => secure.close())

  function openssl(...words: string[]): void {
    execFileSync('openssl', words, { cwd: certificates, stdio: 'ignore' })
  }

  function makeAuthority(name: string): void {
    const files = ['-out', `${name}.pem`, '-keyout', `${name}.key`]
    openssl('req', '-new', '-x509', '-days', '2', '-nodes', '-subj', `/CN=${name}`, ...files)
  }

  function sign(name: string, { subject, extra = [] }: { readonly subject: string; readonly extra?: string[] }): void {
    openssl('req', '-new', '-nodes', '-subj', subject, '-out', `${name}.csr`, '-keyout', `${name}.key`, ...extra)
    const by = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-copy_extensions', 'copy']
    openssl('x509', '-req', '-days', '2', '-in', `${name}.csr`, '-out', `${name}.pem`, ...by)
    chmodSync(join(certificates, `${name}.key`), 0o600)
  }

  /** Checks the store with these keys in the config; returns what it says to people. */
  async function check(tls: object | false | undefined, user = 'hub'): Promise<[code: number | null, said: string]> {
    folder = cliFolder(JSON.stringify({ store: { url: secure.urlOf({ user }), schema: 'tls_hub', tls } }))
    try {
      const { code, stdout, stderr } = await folder.run(['store', 'check'])
      return [code, stdout + stderr]
    } finally {
      folder.remove()
    }
  }

  const file = (name: string) => join(certificates, name)
  const GOOD = [0, expect.stringContaining('can be read and written')]
  const refused = (why: RegExp) => [1, expect.stringMatching(why)]

  it('takes a server whose certificate the authority of the config has signed, and no other', async () => {
    expect(await check({ ca: file('ca.pem'), servername: 'db.test' })).toEqual(GOOD)
    const untrusted = refused(/^error: The certificate of PostgreSQL .* is not trusted[\s\S]*fix: .*tls\.ca/)
    expect(await check({ ca: file('other.pem'), servername: 'db.test' })).toEqual(untrusted)
    expect(await check({})).toEqual(untrusted)
    const misnamed = /^error: The certificate of PostgreSQL .* is for another host[\s\S]*fix: .*tls\.servername/
    expect(await check({ ca: file('ca.pem') })).toEqual(refused(misnamed))
  })

  it('shows the certificate of the config to the server', async () => {
    const tls = { ca: file('ca.pem'), servername: 'db.test' }
    const [cert, key] = [file('client.pem'), file('client.key')]
    expect(await check({ ...tls, cert, key }, 'known')).toEqual(GOOD)
    const missing = /^error: .*requires a valid client certificate[\s\S]*fix: .*tls\.cert/
    expect(await check(tls, 'known')).toEqual(refused(missing))
    const mismatch = /^error: .*cannot be used[\s\S]*fix: .*tls\.cert/
    expect(await check({ ...tls, cert, key: file('other.key') }, 'known')).toEqual(refused(mismatch))
  })

  it('says what to do if the server demands TLS and the config has none', async () => {
    const plain = refused(/^error: .* no encryption[\s\S]*fix: .*tls/)
    expect(await check(undefined)).toEqual(plain)
    expect(await check(false)).toEqual(plain)
  })
})
