import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { within } from './within.mjs'

const CLI = fileURLToPath(new URL('../packages/tool-hub/dist/cli/main.js', import.meta.url))
const START_MS = 30_000
const STOP_MS = 20_000

/** The service as its own process, in a folder; ready when this resolves. */
export async function startProcess(folder, { port = 0, args = ['serve', '--port', String(port)] } = {}) {
  const startedAt = performance.now()
  const child = spawn(process.execPath, [CLI, ...args, '--json'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const service = new ServiceProcess(child)
  const line = await within(START_MS, 'the service to start', service.firstLine()).catch((error) => {
    child.kill('SIGKILL')
    throw new Error(`${error.message}\n${service.complaints}`)
  })
  const { url, token, error } = JSON.parse(line)
  if (error) throw new Error(`It did not start: ${error.message}`)
  const startMs = performance.now() - startedAt
  return Object.assign(service, { url, token, port: url && Number(new URL(url).port), startMs })
}

class ServiceProcess {
  #child
  #exited
  /** The last it wrote to stderr. */
  complaints = ''

  constructor(child) {
    this.#child = child
    this.#exited = once(child, 'exit')
    child.stderr.setEncoding('utf8').on('data', (text) => {
      this.complaints = (this.complaints + text).slice(-4_000)
    })
  }

  async firstLine() {
    const first = once(createInterface({ input: this.#child.stdout }), 'line')
    const [line] = await Promise.race([
      first,
      this.#exited.then(([code]) => Promise.reject(new Error(`It ended: ${code}.`))),
    ])
    return line
  }

  get pid() {
    return this.#child.pid
  }

  get isAlive() {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  signal(name) {
    this.#child.kill(name)
  }

  /** Without a warning, as a machine dies. */
  async kill() {
    this.#child.kill('SIGKILL')
    await this.#exited
  }

  /** In good order; gives its exit code. */
  async stop() {
    this.#child.kill('SIGTERM')
    const [code] = await within(STOP_MS, 'the service to end', this.#exited).catch(async (error) => {
      await this.kill()
      throw error
    })
    return code
  }

  /** Memory that it has now. */
  async residentBytes() {
    const status = await readFile(`/proc/${this.#child.pid}/status`, 'utf8')
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024
  }
}

/** Runs the command line in the folder; gives its exit code and what it wrote. */
export async function runCli(folder, args) {
  const options = { cwd: folder, maxBuffer: 256 * 1024 * 1024, timeout: 120_000 }
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [CLI, ...args], options)
    return { code: 0, stdout, stderr }
  } catch ({ code, stdout = '', stderr = '', message }) {
    return { code: code ?? message, stdout, stderr }
  }
}
