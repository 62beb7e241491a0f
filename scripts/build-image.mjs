// Builds a container image without a container engine: the layers are tar files of unpacked Debian packages, of this
// Node and of this package, and the archive is what `docker load` and `podman load` read. Needs apt-get, dpkg-deb and tar.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { makeBill } from './image-sbom.mjs'

const USAGE = `Usage: node scripts/build-image.mjs [--out FILE] [--tag NAME:TAG] [--packages NAME,NAME]

  --out       the archive. Default: tool-hub-image.tar. Next to it: its bill of materials, .cdx.json
  --tag       the name of the image. Default: tool-hub:local
  --packages  further Debian packages, for the commands of agents: git,python3`

/** What the sandbox starts, what nearly every command line uses, and the libraries of Node. */
const PACKAGES = [
  ...['base-files', 'bash', 'bsdutils', 'bubblewrap', 'ca-certificates', 'coreutils', 'dash', 'diffutils', 'findutils'],
  ...['grep', 'gzip', 'libstdc++6', 'mawk', 'mount', 'sed', 'tar', 'util-linux'],
]
/** Only the installation scripts of packages need them, and none is run. */
const LEFT_OUT = new Set(['debconf', 'dpkg', 'libssl3', 'openssl'])
/** PostgreSQL and the queue of workers are optional for those who install the package, and part of the image. */
const ADDED_MODULES = ['pg', 'pg-boss']
const MAX_BYTES = 300_000_000
const USER = 10_001
/** Folders of that user: a volume mounted there belongs to the user, too. Containers can share the second one. */
const DATA = ['data', 'workspaces']
const PORT = 4040
const HOME = 'opt/tool-hub'
const SECOND_NS = 1_000_000_000
const HEALTH_CHECK = `fetch('http://127.0.0.1:${PORT}/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))`

/** Ends the script with this message and without a stack. */
class Refusal extends Error {}

const work = mkdtempSync(join(tmpdir(), 'tool-hub-image-'))
let options
try {
  options = readOptions()
  process.chdir(resolve(import.meta.dirname, '..'))
  await build()
} catch (error) {
  if (!(error instanceof Refusal)) throw error
  console.error(error.message)
  process.exitCode = 1
} finally {
  rmSync(work, { recursive: true, force: true })
}

async function build() {
  if (options.help) return console.log(USAGE)
  if (process.platform !== 'linux')
    throw new Refusal('The image is built on Linux, from the packages of Debian or Ubuntu.')
  const [base, app] = ['base', 'app'].map((name) => join(work, name))
  const modules = productionModules()
  makeBase(base)
  makeApp(app, modules)
  checkLibraries(base)
  const layers = [await pack(base), await pack(app, { data: true })]
  const bytes = layers.reduce((sum, layer) => sum + layer.bytes, 0)
  if (bytes > MAX_BYTES)
    throw new Refusal(`The image would have ${megabytes(bytes)}, and at most ${megabytes(MAX_BYTES)} are allowed.`)
  const bill = makeBill({ base, modules, bundled: consoleModules(), created: createdAt() })
  const id = writeArchive(layers)
  const billFile = `${options.out.replace(/\.tar$/, '')}.cdx.json`
  writeFileSync(billFile, `${JSON.stringify(bill, undefined, 2)}\n`)
  console.log(`${options.out}  ${options.tag}  ${megabytes(bytes)}  sha256:${id}\n${billFile}`)
}

function readOptions() {
  const text = (value) => ({ type: 'string', default: value })
  const { out, tag, packages, help } = readWords({
    out: text('tool-hub-image.tar'),
    tag: text('tool-hub:local'),
    packages: text(''),
    help: { type: 'boolean' },
  })
  const names = packages.split(',').filter((name) => name !== '')
  const wrong = names.find((name) => !/^[a-z0-9][a-z0-9+.-]+$/.test(name))
  if (wrong !== undefined) throw new Refusal(`${JSON.stringify(wrong)} is not the name of a Debian package.`)
  if (!/^[a-z0-9][a-z0-9._/-]*:\w[\w.-]{0,127}$/.test(tag))
    throw new Refusal(`--tag ${JSON.stringify(tag)} is not a name with a tag, such as tool-hub:local.`)
  return { out: resolve(out), tag, packages: names, help }
}

function readWords(known) {
  try {
    return parseArgs({ options: known }).values
  } catch (error) {
    throw new Refusal(`${error.message}\n\n${USAGE}`)
  }
}

/** The first layer: Debian packages, this Node, and the few files that an installation would have written. */
function makeBase(root) {
  // The folders that packages still name by their old places, as every Debian has them since 12.
  for (const name of ['bin', 'sbin', 'lib', 'lib64']) {
    mkdirSync(join(root, 'usr', name), { recursive: true })
    symlinkSync(`usr/${name}`, join(root, name))
  }
  // Where the sandbox puts its root together.
  mkdirSync(join(root, 'mnt'))
  const state = join(root, 'var/lib/dpkg/status.d')
  mkdirSync(state, { recursive: true })
  for (const file of download([...PACKAGES, ...options.packages])) {
    const control = run('dpkg-deb', ['-f', file])
    const name = /^Package: (.*)$/m.exec(control)[1]
    if (LEFT_OUT.has(name) && !options.packages.includes(name)) continue
    const content = execFileSync('dpkg-deb', ['--fsys-tarfile', file], { maxBuffer: 1_000_000_000 })
    execFileSync('tar', ['--extract', '--keep-directory-symlink', '--no-same-owner', '-C', root], { input: content })
    // Where scanners of images find the packages and their versions.
    writeFileSync(join(state, name), control)
  }
  trim(root)
  const certificates = filesBelow(join(root, 'usr/share/ca-certificates')).sort()
  write(root, 'etc/ssl/certs/ca-certificates.crt', certificates.map((file) => readFileSync(file, 'utf8')).join(''))
  const people = [
    ['root', 0, '/root', '/bin/bash'],
    ['tool-hub', USER, '/data', '/usr/sbin/nologin'],
    ['nobody', 65_534, '/nonexistent', '/usr/sbin/nologin'],
  ]
  write(
    root,
    'etc/passwd',
    people.map(([name, id, home, shell]) => `${name}:x:${id}:${id}::${home}:${shell}\n`).join(''),
  )
  write(root, 'etc/group', people.map(([name, id]) => `${name}:x:${id}:\n`).join(''))
  write(root, 'etc/nsswitch.conf', 'passwd: files\ngroup: files\nhosts: files dns\n')
  mkdirSync(join(root, 'usr/local/bin'), { recursive: true })
  cpSync(process.execPath, join(root, 'usr/local/bin/node'), { dereference: true })
  chmodSync(join(root, 'usr/local/bin/node'), 0o755)
}

/** Downloads the packages with all that they depend on; apt checks their signatures. */
function download(names) {
  const [archives, lists] = ['archives', 'lists'].map((name) => join(work, name))
  for (const folder of [archives, lists]) mkdirSync(join(folder, 'partial'), { recursive: true })
  // As on a machine on which nothing is installed yet.
  writeFileSync(join(work, 'status'), '')
  const set = (values) => Object.entries(values).flatMap(([key, value]) => ['-o', `${key}=${value}`])
  const own = set({
    'Dir::State::status': join(work, 'status'),
    'Dir::Cache::archives': archives,
    'Dir::Cache::pkgcache': '',
    'Dir::Cache::srcpkgcache': '',
    'Debug::NoLocking': 1,
    'APT::Sandbox::User': 'root',
  })
  const ownLists = set({ 'Dir::State::lists': lists })
  const get = (...words) => run('apt-get', ['-qq', '-y', ...own, ...words])
  const install = ['--no-install-recommends', '--download-only', 'install', ...names]
  try {
    get(...install)
  } catch {
    // This machine has no list of packages, or an old one that names packages that are gone.
    get(...ownLists, 'update')
    get(...ownLists, ...install)
  }
  return filesBelow(archives)
    .filter((file) => file.endsWith('.deb'))
    .sort()
}

/** Removes what no program reads. Licenses stay. */
function trim(root) {
  for (const path of ['usr/share/man', 'usr/share/info', 'usr/share/locale', 'usr/share/lintian'])
    rmSync(join(root, path), { recursive: true, force: true })
  for (const file of filesBelow(join(root, 'usr/share/doc'))) if (basename(file) !== 'copyright') rmSync(file)
}

/** The second layer: this package as it would be published, and the modules that the lock file names for it. */
function makeApp(root, modules) {
  run(process.execPath, ['scripts/build.mjs'])
  const [{ files }] = JSON.parse(
    run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts', '-w', 'packages/tool-hub']),
  )
  const keep = (path) => !/\.map$|\.d\.[cm]?ts$/.test(path)
  for (const { path } of files) if (keep(path)) copy(join('packages/tool-hub', path), join(root, HOME, path))
  for (const path of modules) {
    const isOwn = (each) => each === path || (keep(each) && !isForeign(each) && basename(each) !== 'node_modules')
    copy(path, join(root, HOME, path), isOwn)
  }
  chmodSync(join(root, HOME, 'dist/cli/main.js'), 0o755)
  mkdirSync(join(root, 'usr/local/bin'), { recursive: true })
  symlinkSync(`/${HOME}/dist/cli/main.js`, join(root, 'usr/local/bin/tool-hub'))
}

/** Whether a file of a module is for another machine, or is the source of what is there compiled. */
function isForeign(path) {
  const platform = /\/prebuilds\/([^/]+)$/.exec(path)?.[1]
  if (platform !== undefined) return platform !== `${process.platform}-${process.arch}`
  return path.endsWith('@photostructure/sqlite/src')
}

/** The folders of the modules that run in production, as they are installed here and as the tests use them. */
function productionModules() {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'))
  const { dependencies, optionalDependencies } = packages['packages/tool-hub']
  return modulesOf('packages/tool-hub', [
    ...Object.keys({ ...dependencies, ...optionalDependencies }),
    ...ADDED_MODULES,
  ])
}

/** The modules that the console was built from; parts of them are in its files. */
function consoleModules() {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'))
  const names = Object.keys(packages['packages/console'].devDependencies)
  const isCode = (name) => !/^@(types|tool-hub)\//.test(name)
  return modulesOf('packages/console', names.filter(isCode)).filter((path) => !path.includes('node_modules/@types/'))
}

/** The folders of these modules of a package and of all that they need. */
function modulesOf(start, names) {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'))
  const found = new Set()
  const visit = (from, name, isOptional) => {
    const path = locate(from, name)
    if (path === undefined || !existsSync(path)) {
      if (!isOptional) throw new Refusal(`The module ${name} is not installed. Run npm ci first.`)
      return
    }
    if (found.has(path)) return
    found.add(path)
    const {
      dependencies = {},
      optionalDependencies = {},
      peerDependencies = {},
      peerDependenciesMeta = {},
    } = packages[path]
    for (const each of Object.keys(dependencies)) visit(path, each, false)
    for (const each of Object.keys(optionalDependencies)) visit(path, each, true)
    for (const each of Object.keys(peerDependencies))
      if (!peerDependenciesMeta[each]?.optional) visit(path, each, false)
  }
  /** As Node looks for a module: in the folder of the one that needs it, then in those above. */
  const locate = (from, name) => {
    for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
      const path = `${at === '' ? '' : `${at}/`}node_modules/${name}`
      if (Object.hasOwn(packages, path)) return path
      if (at === '') return undefined
    }
  }
  for (const name of names) visit(start, name, false)
  return [...found].sort()
}

/** A Node that was built in another way may need libraries that no package of the image has. */
function checkLibraries(root) {
  const names = [...run('ldd', [process.execPath]).matchAll(/^\s*(\S+) => \//gm)].map(([, name]) => name)
  const there = new Set(filesBelow(join(root, 'usr/lib')).map((file) => basename(file)))
  const missing = names.filter((name) => !there.has(name))
  if (missing.length > 0)
    throw new Refusal(`Node at ${process.execPath} needs ${missing.join(', ')}. Use a Node of nodejs.org.`)
}

/** One layer: a tar file that has the same bytes whenever and by whomever it is made. */
async function pack(root, { data = false } = {}) {
  const file = `${root}.tar`
  const same = ['--sort=name', `--mtime=@${createdAt()}`, '--numeric-owner', '--format=gnu', `--file=${file}`]
  // No program keeps the right to become another user.
  run('chmod', ['-R', 'go-w,a+rX,ug-s', root])
  if (existsSync(join(root, 'tmp'))) chmodSync(join(root, 'tmp'), 0o1777)
  run('tar', ['--create', ...same, '--owner=0', '--group=0', '-C', root, ...readdirSync(root).sort()])
  if (data) {
    for (const name of DATA) mkdirSync(join(root, name), { mode: 0o750 })
    run('tar', ['--append', ...same, `--owner=${USER}`, `--group=${USER}`, '-C', root, ...DATA])
  }
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file)) hash.update(chunk)
  return { file, digest: hash.digest('hex'), bytes: statSync(file).size }
}

function writeArchive(layers) {
  const folder = join(work, 'image')
  mkdirSync(folder)
  for (const { file, digest } of layers) renameSync(file, join(folder, `${digest}.tar`))
  const config = JSON.stringify(imageConfig(layers))
  const id = createHash('sha256').update(config).digest('hex')
  writeFileSync(join(folder, `${id}.json`), config)
  const entry = { Config: `${id}.json`, RepoTags: [options.tag], Layers: layers.map(({ digest }) => `${digest}.tar`) }
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify([entry]))
  const same = ['--sort=name', `--mtime=@${createdAt()}`, '--numeric-owner', '--owner=0', '--group=0', '--format=gnu']
  mkdirSync(dirname(options.out), { recursive: true })
  run('tar', ['--create', ...same, `--file=${options.out}`, '-C', folder, ...readdirSync(folder).sort()])
  return id
}

function imageConfig(layers) {
  const { version, license, description } = JSON.parse(readFileSync('packages/tool-hub/package.json', 'utf8'))
  const created = new Date(createdAt() * 1_000).toISOString()
  const labels = { title: 'tool-hub', description, version, licenses: license, ...revision() }
  return {
    architecture: { x64: 'amd64' }[process.arch] ?? process.arch,
    os: 'linux',
    created,
    config: {
      User: `${USER}:${USER}`,
      Env: ['PATH=/usr/local/bin:/usr/bin:/bin', 'NODE_ENV=production', 'HOME=/data'],
      Entrypoint: ['/usr/local/bin/tool-hub'],
      Cmd: ['serve'],
      WorkingDir: '/data',
      Volumes: { '/data': {} },
      ExposedPorts: { [`${PORT}/tcp`]: {} },
      StopSignal: 'SIGTERM',
      Healthcheck: {
        Test: ['CMD', 'node', '-e', HEALTH_CHECK],
        Interval: 10 * SECOND_NS,
        Timeout: 5 * SECOND_NS,
        StartPeriod: 30 * SECOND_NS,
        Retries: 3,
      },
      Labels: Object.fromEntries(
        Object.entries(labels).map(([name, value]) => [`org.opencontainers.image.${name}`, value]),
      ),
    },
    rootfs: { type: 'layers', diff_ids: layers.map(({ digest }) => `sha256:${digest}`) },
    history: ['Debian packages and Node', `tool-hub ${version}`].map((comment) => ({ created, comment })),
  }
}

/** Seconds since 1970: of the last commit, so that the same sources make the same image. */
function createdAt() {
  return Number(process.env.SOURCE_DATE_EPOCH ?? git('log', '-1', '--format=%ct') ?? 0)
}

function revision() {
  const found = git('rev-parse', 'HEAD')
  return found === undefined ? {} : { revision: found }
}

/** What Git prints; `undefined` outside of a repository. */
function git(...words) {
  try {
    return run('git', words).trim()
  } catch {
    return undefined
  }
}

function copy(from, to, filter = () => true) {
  mkdirSync(dirname(to), { recursive: true })
  cpSync(from, to, { recursive: true, dereference: true, filter: (each) => filter(each) })
}

function write(root, path, text) {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}

/** Files, and what else is not a folder. */
function filesBelow(folder) {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name))
}

function megabytes(bytes) {
  return `${(bytes / 1e6).toFixed(1)} MB`
}

function run(file, args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' }
  return execFileSync(file, args, { encoding: 'utf8', env, maxBuffer: 64_000_000, stdio: ['ignore', 'pipe', 'pipe'] })
}
