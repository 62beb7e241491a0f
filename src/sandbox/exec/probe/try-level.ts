import { once } from 'node:events'
import { access, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { messageOf, resourceError, type SandboxLevel, ToolError } from '../../../core/index.ts'
import { startProcess } from '../../start-process.ts'
import { buildSandbox } from '../isolation/build-sandbox.ts'
import { commandEnvironment } from '../isolation/environment.ts'
import type { SandboxLaunch } from '../isolation/sandbox.ts'
import { inPrivateMounts } from '../isolation/sandbox-user.ts'

const LIMITS = { cpuSeconds: 10, memoryBytes: 512 * 1024 ** 2, processes: 64, fileBytes: 1024 ** 2, openFiles: 256 }

/** Writes inside, reads and writes outside, and connects to the given port; prints what worked. */
const ATTEMPTS = `
echo inside >"$1/inside" && echo wrote-inside
(echo outside >"$2/made") 2>/dev/null && echo wrote-outside
(read -r secret <"$2/secret") 2>/dev/null && echo read-outside
(exec 3<>"/dev/tcp/127.0.0.1/$3") 2>/dev/null && echo connected
echo done
`

/**
 * Really runs a level once. Returns why it does not hold, or undefined if it does. Throws OUT_OF_RESOURCES if it could
 * not be tried: that says nothing about the machine, and must not lead to a weaker level.
 */
export async function tryLevel(level: SandboxLevel, timeoutMs: number): Promise<string | undefined> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'tool-hub-probe-')))
  const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  try {
    await once(server, 'listening')
    return await attempt(level, folder, portOf(server), timeoutMs)
  } catch (error) {
    const exhausted = resourceError(error, 'The sandbox cannot be tried')
    if (exhausted) throw exhausted
    return ToolError.is(error) ? `${error.message} ${error.fix.hint}` : messageOf(error)
  } finally {
    server.close()
    await rm(folder, { recursive: true, force: true })
  }
}

async function attempt(
  level: SandboxLevel,
  folder: string,
  port: number,
  timeoutMs: number,
): Promise<string | undefined> {
  const [inside, outside] = [join(folder, 'inside'), join(folder, 'outside')]
  await mkdir(inside)
  await mkdir(outside)
  await writeFile(join(outside, 'secret'), 'secret\n')
  const sandbox = buildSandbox({
    level,
    roots: [{ path: inside, mode: 'write' }],
    ...{ readable: [], writable: [], protect: [], hide: [] },
    limits: LIMITS,
    environment: commandEnvironment({ from: {} }),
  })
  const words = ['/bin/bash', '-c', ATTEMPTS, 'probe', inside, outside, String(port)]
  const { stdout, stderr, exitCode, signal } = await runInSandbox(sandbox, words, { cwd: inside, timeoutMs })
  const succeeded = stdout.split('\n')
  if (!succeeded.includes('done')) return failure(stderr, exitCode, signal)
  if ((await readFile(join(inside, 'inside'), 'utf8').catch(() => '')) !== 'inside\n')
    return 'A command could not write in its workspace.'
  if (level === 'none') return undefined
  if (succeeded.includes('wrote-outside') || (await exists(join(outside, 'made'))))
    return 'A command could write outside.'
  if (succeeded.includes('read-outside')) return 'A command could read outside.'
  return succeeded.includes('connected') ? 'A command could reach the network.' : undefined
}

function failure(stderr: string, exitCode: number | null, signal: string | null): string {
  const [line] = stderr.trim().split('\n')
  if (line) return line
  return signal ? `It was ended by ${signal}.` : `It ended with ${exitCode}.`
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

function portOf(server: Server): number {
  const address = server.address()
  return typeof address === 'object' && address ? address.port : 0
}

/** Where and for how long to run, and as which user if not as this process's own. */
interface ProbeOptions {
  readonly cwd?: string
  readonly timeoutMs?: number
  readonly uid?: number
  readonly gid?: number
}

/** Runs a few words of our own in a sandbox and waits for them, to test the sandbox; commands go through a Starter. */
export async function runInSandbox(
  sandbox: SandboxLaunch,
  words: readonly string[],
  { cwd = '/', timeoutMs = 20_000, ...user }: ProbeOptions = {},
): Promise<{ exitCode: number | null; signal: string | null; stdout: string; stderr: string }> {
  const [file, ...args] = inPrivateMounts(sandbox, [sandbox.file, ...sandbox.args, ...words])
  const child = startProcess(file!, args, {
    cwd,
    env: sandbox.env,
    ...user,
    stdio: ['ignore', 'pipe', 'pipe', sandbox.seccomp ? 'pipe' : 'ignore'],
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  })
  const filter = child.stdio[3] as Writable | null
  // A sandbox that cannot be created may exit before it has read its filter.
  filter?.on('error', () => {})
  filter?.end(sandbox.seccomp?.program)
  const ended = new Promise<[number | null, string | null]>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => resolve([code, signal]))
  })
  const [stdout, stderr, [exitCode, signal]] = await Promise.all([text(child.stdout!), text(child.stderr!), ended])
  return { exitCode, signal, stdout, stderr }
}
