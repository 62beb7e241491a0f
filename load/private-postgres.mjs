import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chown, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

const SETTINGS = `
listen_addresses = '127.0.0.1'
max_connections = 200
shared_buffers = 64MB
`
const READY_MS = 60_000

/** A PostgreSQL server of our own, on a port of this machine; it can be stopped and started again. */
export class PrivatePostgres {
  #folder
  #programs
  #user
  #child
  port

  static async create() {
    const server = new PrivatePostgres()
    // Not below the folder of the test, which other users cannot enter.
    server.#folder = await mkdtemp(join(tmpdir(), 'tool-hub-postgres-'))
    server.#programs = await findPrograms()
    server.#user = serverUser()
    if (server.#user) await chown(server.#folder, server.#user.uid, server.#user.gid)
    const made = server.#run('initdb', ['-D', server.#data, '-U', 'hub', '-A', 'trust', '--no-sync', '-E', 'UTF8'])
    if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`)
    server.port = await freePort()
    const settings = `${SETTINGS}port = ${server.port}\nunix_socket_directories = '${server.#folder}'\n`
    await writeFile(join(server.#data, 'postgresql.auto.conf'), settings, { mode: 0o644 })
    await server.start()
    return server
  }

  get #data() {
    return join(this.#folder, 'data')
  }

  async start() {
    this.#child = spawn(join(this.#programs, 'postgres'), ['-D', this.#data], { stdio: 'ignore', ...this.#user })
    const args = ['-h', '127.0.0.1', '-p', String(this.port), '-U', 'hub', '-d', 'postgres']
    const until = performance.now() + READY_MS
    while (this.#run('pg_isready', args).status !== 0) {
      if (this.#child.exitCode !== null || performance.now() > until) throw new Error('PostgreSQL does not start.')
      await wait(50)
    }
  }

  /** Without good order: connections are cut, and the server recovers when it starts again. */
  async stop() {
    if (this.#child.exitCode !== null) return
    const exited = once(this.#child, 'exit')
    this.#child.kill('SIGQUIT')
    await exited
  }

  async remove() {
    await this.stop()
    await rm(this.#folder, { recursive: true, force: true })
  }

  #run(name, args) {
    return spawnSync(join(this.#programs, name), args, { encoding: 'utf8', cwd: '/', ...this.#user })
  }
}

/** Where Debian puts the programs of the newest version that is installed. */
async function findPrograms() {
  const root = '/usr/lib/postgresql'
  const versions = await readdir(root).catch(() => [])
  const newest = versions.map(Number).sort((a, b) => b - a)[0]
  if (newest === undefined) throw new Error('PostgreSQL is missing. Install it: apt install postgresql-15.')
  return join(root, String(newest), 'bin')
}

/** The server refuses to run as root. */
function serverUser() {
  if (process.getuid() !== 0) return undefined
  const idOf = (flag) => Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout)
  return { uid: idOf('-u'), gid: idOf('-g') }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}
