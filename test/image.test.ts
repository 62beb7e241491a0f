import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream, lstatSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { beforeAll, expect, it, vi } from 'vitest'
import { temporaryFolder } from './support/temporary-folder.ts'

// An image is built and started.
vi.setConfig({ testTimeout: 600_000 })

const run = promisify(execFile)
const { version } = JSON.parse(readFileSync('packages/tool-hub/package.json', 'utf8')) as { readonly version: string }

/** What `docker load` reads. */
interface Archive {
  readonly folder: string
  readonly entry: { readonly Config: string; readonly RepoTags: readonly string[]; readonly Layers: readonly string[] }
  readonly image: {
    readonly config: {
      readonly Env: readonly string[]
      readonly Entrypoint: readonly string[]
      readonly Cmd: readonly string[]
      readonly Healthcheck: { readonly Test: readonly string[] }
      readonly WorkingDir: string
    }
    readonly rootfs: { readonly diff_ids: readonly string[] }
  }
}

let archive: Archive
let root: string
/** What the bill of materials lists, by package URL. */
let bill: {
  readonly specVersion: string
  readonly components: readonly { readonly purl: string; readonly 'bom-ref': string }[]
}

beforeAll(async () => {
  const folder = temporaryFolder()
  const file = join(folder, 'image.tar')
  await run(process.execPath, ['scripts/build-image.mjs', '--out', file, '--tag', 'tool-hub:test'])
  await run('tar', ['-xf', file, '-C', folder])
  bill = JSON.parse(readFileSync(join(folder, 'image.cdx.json'), 'utf8'))
  const read = (name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8'))
  const [entry] = read('manifest.json')
  archive = { folder, entry, image: read(entry.Config) }
  root = join(folder, 'root')
  mkdirSync(root)
  for (const layer of archive.entry.Layers) await run('tar', ['-xpf', join(folder, layer), '-C', root])
})

it('the container image has the digests that it names, and at most 300 MB', async () => {
  const { folder, entry, image } = archive
  expect(entry.RepoTags).toEqual(['tool-hub:test'])
  expect(entry.Config).toBe(`${await sha256(join(folder, entry.Config))}.json`)
  const digests = await Promise.all(entry.Layers.map((layer) => sha256(join(folder, layer))))
  expect(digests).toHaveLength(2)
  expect(image.rootfs).toEqual({ type: 'layers', diff_ids: digests.map((digest) => `sha256:${digest}`) })
  const bytes = entry.Layers.reduce((sum, layer) => sum + statSync(join(folder, layer)).size, 0)
  expect(bytes).toBeLessThanOrEqual(300_000_000)
})

it('the container image runs as a user without rights, and says how it is stopped and whether it is healthy', () => {
  const second = 1_000_000_000
  expect(archive.image).toMatchObject({
    os: 'linux',
    config: {
      User: '10001:10001',
      WorkingDir: '/data',
      Entrypoint: ['/usr/local/bin/tool-hub'],
      Cmd: ['serve'],
      ExposedPorts: { '4040/tcp': {} },
      StopSignal: 'SIGTERM',
      Healthcheck: { Interval: 10 * second, Timeout: 5 * second, StartPeriod: 30 * second, Retries: 3 },
      Labels: { 'org.opencontainers.image.title': 'tool-hub', 'org.opencontainers.image.version': version },
    },
  })
  expect(readFileSync(join(root, 'etc/passwd'), 'utf8')).toContain('tool-hub:x:10001:10001::/data:/usr/sbin/nologin\n')
  expect(readdirSync(join(root, 'opt/tool-hub/deploy'))).toContain('worker-health.mjs')
  if (process.getuid?.() === 0)
    for (const folder of ['data', 'workspaces']) expect(statSync(join(root, folder))).toMatchObject({ uid: 10_001 })
})

it('no program of the image gets the rights of another user, and only folders for temporary files are open to all', () => {
  const entries = readdirSync(root, { recursive: true, encoding: 'utf8' }).map((path) => {
    const { mode } = lstatSync(join(root, path))
    return { path, mode, isLink: (mode & 0o170000) === 0o120000 }
  })
  expect(entries.length).toBeGreaterThan(1_000)
  expect(entries.filter(({ mode }) => mode & 0o6000).map(({ path }) => path)).toEqual([])
  expect(entries.filter(({ mode, isLink }) => !isLink && mode & 0o002).map(({ path }) => path)).toEqual(['tmp'])
})

it('the image starts, has what PostgreSQL and workers need, and its packages are listed for scanners', async () => {
  expect(await inContainer('tool-hub --version; id -un')).toBe(`${version}\ntool-hub\n`)
  const load = `cd /opt/tool-hub && node -e "Promise.all([import('pg'), import('pg-boss')]).then(() => console.log('both'))"`
  expect(await inContainer(load)).toBe('both\n')
  const listed = readdirSync(join(root, 'var/lib/dpkg/status.d'))
  expect(listed).toEqual(expect.arrayContaining(['bubblewrap', 'libc6', 'bash']))
  for (const left of ['perl-base', 'apt', 'dpkg']) expect(listed).not.toContain(left)
})

it('the bill of materials lists every Debian package and every npm package of the image, and nothing twice', () => {
  const debian = readdirSync(join(root, 'var/lib/dpkg/status.d')).map((name) => {
    const control = readFileSync(join(root, 'var/lib/dpkg/status.d', name), 'utf8')
    return `${name}@${/^Version: (.*)$/m.exec(control)![1]}`
  })
  const modules = join(root, 'opt/tool-hub/node_modules')
  const npm = readdirSync(modules, { recursive: true, encoding: 'utf8' })
    .filter((path) => /(?:^|\/node_modules\/)(?:@[^/]+\/)?[^/@]+\/package\.json$/.test(path))
    .map((path) => JSON.parse(readFileSync(join(modules, path), 'utf8')))
    .map(({ name, version: installed }: { name: string; version: string }) => `${name}@${installed}`)
  const purls = bill.components.map(({ purl }) => purl)
  const listed = (type: string) =>
    purls
      .filter((purl) => purl.startsWith(`pkg:${type}`))
      .map((purl) => decodeURIComponent(purl.slice(`pkg:${type}`.length).split('?')[0]!))
  const [, distribution] = /^ID=(\w+)$/m.exec(readFileSync(join(root, 'etc/os-release'), 'utf8'))!
  expect(debian.length).toBeGreaterThan(20)
  expect(listed(`deb/${distribution}/`).sort()).toEqual(debian.sort())
  expect(npm.length).toBeGreaterThan(50)
  expect(npm.filter((each) => !listed('npm/').includes(each))).toEqual([])
  // Compiled into the console, and so in no node_modules.
  expect(listed('npm/').filter((each) => /^react@/.test(each))).toHaveLength(1)
  expect(listed('generic/')).toEqual([`node@${process.versions.node}`])
  expect(new Set(purls).size).toBe(purls.length)
  expect(bill.components.filter((each) => each['bom-ref'] !== each.purl)).toEqual([])
  expect(JSON.stringify(bill)).not.toMatch(/\bregistry\b/)
})

it('the service in the image answers its health check as soon as it runs, and ends cleanly on SIGTERM', async () => {
  const { Entrypoint, Cmd, Healthcheck } = archive.image.config
  expect(Healthcheck.Test[0]).toBe('CMD')
  const check = Healthcheck.Test.slice(1).map(quote).join(' ')
  const printed = await inContainer(`
    ${check}; echo "before: $?"
    ${[...Entrypoint, ...Cmd].join(' ')} >/dev/null 2>log & service=$!
    until ${check}; do kill -0 $service || { cat log; exit 1; }; done
    echo healthy; kill -TERM $service; wait $service; echo "ended with $?"; grep -o service-stopped log`)
  expect(printed).toBe('before: 1\nhealthy\nended with 143\nservice-stopped\n')
})

it('in a container that hides parts of /proc, commands ask; in one that does not, they are fully sandboxed', async () => {
  const prepare = `printf 'sandbox: {root: .}\\npolicy: [{allow: exec, on: "id *"}]\\n' > tool-hub.yaml`
  const command = `${prepare}; tool-hub exec -- id -u 2>&1; tool-hub doctor | grep '^[a-z]* *commands'`
  const hidden = await inContainer(command)
  expect(hidden).toContain('APPROVAL_UNAVAILABLE')
  expect(hidden).toContain('level none')
  expect(await inContainer(command, { proc: 'whole' })).toMatch(/^10001\n.* level full \(bubblewrap/)
})

it('the script explains what it does not understand, and leaves nothing behind', async () => {
  const refused = async (...words: string[]) =>
    (await run(process.execPath, ['scripts/build-image.mjs', ...words]).catch((error) => error)).stderr
  expect(await refused('--tag', 'Tool Hub')).toMatch(/is not a name with a tag, such as tool-hub:local/)
  expect(await refused('--packages', 'git,$(id)')).toMatch(/is not the name of a Debian package/)
  expect(await refused('--output', 'x')).toMatch(/Usage: node scripts\/build-image.mjs/)
})

/** Runs a script as the user of the image, with a network of its own, a read-only root and an empty /data. */
async function inContainer(script: string, { proc = 'masked' }: { proc?: 'masked' | 'whole' } = {}): Promise<string> {
  const { Env, WorkingDir } = archive.image.config
  const variables = Env.map((each) => each.split('=') as [string, string])
  const words = [
    ...['--unshare-user', '--uid', '10001', '--gid', '10001', '--unshare-net', '--die-with-parent', '--new-session'],
    ...['--ro-bind', root, '/', '--bind', temporaryFolder(), '/data', '--dev', '/dev', '--tmpfs', '/tmp'],
    // Like container engines, bubblewrap covers parts of the /proc that it mounts.
    ...(proc === 'masked' ? ['--unshare-pid', '--proc', '/proc'] : ['--dev-bind', '/proc', '/proc']),
    ...['--chdir', WorkingDir, '--clearenv', ...variables.flatMap(([name, value]) => ['--setenv', name, value])],
    ...['bash', '-c', script],
  ]
  return (await run('bwrap', words, { maxBuffer: 1e7 })).stdout
}

async function sha256(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}

function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}
