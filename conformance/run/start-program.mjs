import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const HOME = join(import.meta.dirname, '..')
const GRACE_MS = 5_000

/** Starts a script that says where it listens, and ends with its stdin. */
export async function startProgram(script) {
  const child = spawn(process.execPath, [script], { cwd: HOME })
  let complaints = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    complaints = (complaints + text).slice(-10_000)
  })
  const ended = once(child, 'exit')
  const [url] = await Promise.race([once(createInterface(child.stdout), 'line'), ended.then(() => [])])
  if (url === undefined) throw new Error(`${script} did not start:\n${complaints}`)
  return {
    url,
    async stop() {
      child.stdin.end()
      const timer = setTimeout(() => child.kill('SIGKILL'), GRACE_MS)
      await ended
      clearTimeout(timer)
    },
  }
}
