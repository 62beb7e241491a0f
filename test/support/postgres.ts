import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chownSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A PostgreSQL server of a test, in a folder of its own. */
export interface TestPostgres {
  /** The URL of the database `postgres`, over the socket, or over TCP if the server listens on it. */
  readonly url: string
  /** The URL of a database, for a user. */
  urlOf(change: { readonly database?: string; readonly user?: string; readonly password?: string }): string
  /** Executes SQL as the superuser. */
  sql(sql: string, database?: string): string
  /** Stops the server: `immediate` is like a crash, `fast` ends all connections first. */
  stop(mode?: 'immediate' | 'fast'): Promise<void>
  /** Starts it again; resolves when it takes connections. */
  start(): Promise<void>
  /** Stops it for good, and removes its folder. */
  close(): Promise<void>
}

/** How a server is started. */
export interface TestPostgresOptions {
  /** Whether to listen on the loopback address, on a free port. Default: on a socket only. */
  readonly tcp?: boolean
  /** Files of a certificate and its key: the server then takes TLS. */
  readonly tls?: { readonly cert: string; readonly key: string }
  /** Lines of pg_hba.conf in place of the default, which trusts everybody. */
  readonly access?: string
  /** More settings, such as `max_connections=20`. */
  readonly settings?: readonly string[]
  /** Whether commits are written to disk, for measurements. Default: false. */
  readonly fsync?: boolean
}

/**
 * Starts a private PostgreSQL server. It ends with this process, however that ends: a second process waits for the end of
 * its standard input, stops the server and removes the folder.
 */
export async function startPostgres(options: TestPostgresOptions = {}): Promise<TestPostgres> {
  const bin = findPostgres()
  const user = serverUser()
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'pg-'))
  const giveToServer = (path: string) => user && chownSync(path, user.uid, user.gid)
  giveToServer(folder)
  const data = join(folder, 'data')
  const port = options.tcp ? await freePort() : 5432
  const run = (program: string, args: readonly string[]) =>
    execFileSync(join(bin, program), args, {
      ...user,
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  const guard = spawn('/bin/sh', ['-c', GUARD, 'guard', join(bin, 'pg_ctl'), data, folder], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  guard.unref()
  const settings = ['-c', `unix_socket_directories=${folder}`, '-c', `port=${port}`]
  const set = (setting: string) => settings.push('-c', setting)
  set(`listen_addresses=${options.tcp ? '127.0.0.1' : ''}`)
  if (!options.fsync) for (const name of ['fsync', 'full_page_writes']) set(`${name}=off`)
  for (const setting of options.settings ?? []) set(setting)
  // Not synchronous: what this process does meanwhile meets a server that stops, or that is not ready yet.
  const ctl = async (...args: string[]) => {
    const words = ['-D', data, '-w', '-t', '120', '-l', join(folder, 'log'), ...args]
    const child = spawn(join(bin, 'pg_ctl'), words, { ...user, cwd: folder, stdio: 'ignore' })
    const [code] = await once(child, 'exit')
    if (code !== 0)
      throw new Error(`pg_ctl ${args.at(-1)} ended with ${code}: ${readFileSync(join(folder, 'log'), 'utf8')}`)
  }
  const start = () => ctl('-o', settings.map((each) => `'${each}'`).join(' '), 'start')
  run('initdb', ['-D', data, '-U', 'postgres', '-A', 'trust', '--no-sync', '-E', 'UTF8', '--locale', 'C'])
  if (options.tls) {
    const { cert, key } = options.tls
    for (const [name, file] of Object.entries({ 'server.crt': cert, 'server.key': key })) {
      copyFileSync(file, join(data, name))
      giveToServer(join(data, name))
    }
    set('ssl=on')
  }
  if (options.access !== undefined) writeFileSync(join(data, 'pg_hba.conf'), options.access)
  await start()
  const urlOf: TestPostgres['urlOf'] = ({ database = 'postgres', user: name = 'postgres', password = '' }) => {
    const login = password === '' ? name : `${name}:${encodeURIComponent(password)}`
    return options.tcp
      ? `postgres://${login}@127.0.0.1:${port}/${database}`
      : `postgres://${login}@/${database}?host=${encodeURIComponent(folder)}`
  }
  return {
    url: urlOf({}),
    urlOf,
    sql: (sql, database = 'postgres') =>
      run('psql', [
        ...['-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1'],
        ...['-h', folder, '-p', String(port), '-U', 'postgres', '-d', database, '-c', sql],
      ]),
    stop: (mode = 'immediate') => ctl('-m', mode, 'stop'),
    start,
    async close() {
      const ended = once(guard, 'exit')
      guard.ref()
      guard.stdin.end()
      await ended
    },
  }
}

/** Waits for the end of its input; then nothing of the server may stay. */
const GUARD =
  'cat > /dev/null; su postgres -s /bin/sh -c "\'$1\' -D \'$2\' -m immediate -w stop" || "$1" -D "$2" -m immediate -w stop; rm -rf "$3"'

/** PostgreSQL refuses to run as root. */
function serverUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

/** The folder of the programs: Debian has them outside of the PATH, by version. */
function findPostgres(): string {
  const root = '/usr/lib/postgresql'
  const versions = existsSync(root)
    ? readdirSync(root)
        .map(Number)
        .filter((version) => version >= 13 && existsSync(join(root, String(version), 'bin/initdb')))
    : []
  if (versions.length > 0) return join(root, String(Math.max(...versions)), 'bin')
  return execFileSync('pg_config', ['--bindir'], { encoding: 'utf8' }).trim()
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}
