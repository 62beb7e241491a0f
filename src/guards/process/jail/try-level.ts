import { once } from 'node:events'
import { access, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SandboxLevel } from '../../../contracts/commands.ts'
import { resourceError } from '../../../disk/resource-error.ts'
import { messageOf, ToolError } from '../../../errors.ts'
import { buildJail } from './build-jail.ts'
import { commandEnvironment } from './environment.ts'
import { runInJail } from './run-in-jail.ts'

const LIMITS = { cpuSeconds: 10, memoryBytes: 512 * 1024 ** 2, processes: 64, fileBytes: 1024 ** 2, openFiles: 256 }

/** Writes inside, reads and writes outside, and calls the given port; says what worked. */
const ATTEMPTS = `
echo inside >"$1/inside" && echo wrote-inside
(echo outside >"$2/made") 2>/dev/null && echo wrote-outside
(read -r secret <"$2/secret") 2>/dev/null && echo read-outside
(exec 3<>"/dev/tcp/127.0.0.1/$3") 2>/dev/null && echo connected
echo done
`

/**
 * Really runs a level once; gives back why it does not hold, or undefined when it does. Fails with OUT_OF_RESOURCES where
 * it could not be tried: that says nothing about the machine, and must not lead to a weaker level.
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
  const jail = buildJail({
    level,
    roots: [{ path: inside, mode: 'write' }],
    ...{ readable: [], writable: [], protect: [], hide: [] },
    limits: LIMITS,
    environment: commandEnvironment({ from: {} }),
  })
  const words = ['/bin/bash', '-c', ATTEMPTS, 'probe', inside, outside, String(port)]
  const { stdout, stderr, exitCode, signal } = await runInJail(jail, words, { cwd: inside, timeoutMs })
  const did = stdout.split('\n')
  if (!did.includes('done')) return failure(stderr, exitCode, signal)
  if ((await readFile(join(inside, 'inside'), 'utf8').catch(() => '')) !== 'inside\n')
    return 'A command could not write in its workspace.'
  if (level === 'none') return undefined
  if (did.includes('wrote-outside') || (await exists(join(outside, 'made')))) return 'A command could write outside.'
  if (did.includes('read-outside')) return 'A command could read outside.'
  return did.includes('connected') ? 'A command could reach the network.' : undefined
}

function failure(stderr: string, exitCode: number | null, signal: string | null): string {
  const said = stderr.trim().split('\n')[0]
  if (said) return said
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
