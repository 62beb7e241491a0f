import { execFile } from 'node:child_process'
import { mkdtemp, open, rm, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { auditVerify } from './audit-verify.mjs'
import { HttpClient } from './http-client.mjs'
import { makeTokens } from './make-tokens.mjs'
import { makeServiceFolder } from './service-folder.mjs'
import { startProcess } from './service-process.mjs'
import { untyped } from './typed.mjs'

const run = promisify(execFile)
const DISK = '32m'
const CALLS = 10
const TRIES = 50

/** The disk is full: calls with effects are refused, the service stays up, and continues once space is free. Needs root. */
export async function checkDiskFull(checks, { isCi }) {
  const mount = await mkdtemp(join(tmpdir(), 'tool-hub-disk-'))
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${DISK},mode=700`, 'tmpfs', mount])
  } catch (error) {
    await rmdir(mount)
    if (isCi) checks.that('a small disk can be made', false, `only root can: ${error.message}`)
    else console.log('  left out: a full disk needs root, to make a small one')
    return
  }
  try {
    await fillAndFree(checks, mount)
  } finally {
    await run('umount', ['--lazy', mount])
    await rmdir(mount)
  }
}

async function fillAndFree(checks, mount) {
  const folder = await makeServiceFolder(mount)
  const service = await startProcess(folder)
  const client = new HttpClient(service.url)
  try {
    const [token] = await makeTokens(client, service.token, ['writer'])
    const first = await append(client, token, 'before')
    checks.that('with room, calls go through', first.json?.ok === true, first.json?.ok ? '' : first.text)
    const filler = join(mount, 'filler')
    await fill(filler)
    const answers = []
    for (let count = 0; count < CALLS; count++) answers.push(await append(client, token, `full-${count}`))
    const wrong = answers.map(untyped).filter(Boolean)
    const failed = answers.filter(({ json }) => json?.ok !== true)
    const codes = [...new Set(failed.map(({ json }) => json?.error?.code))]
    checks.that(
      'on a full disk each answer is typed',
      wrong.length === 0,
      wrong[0] ?? `${failed.length} of ${CALLS} refused: ${codes}`,
    )
    checks.that('and effects that nobody could prove are refused', failed.length > 0)
    const health = await client.request('GET', '/healthz')
    checks.that('and the service lives', health.status === 200 && service.isAlive, String(health.status))
    await rm(filler)
    checks.that('and continues once space is free', await works(client, token))
  } finally {
    client.close()
    await service.stop()
  }
  await auditVerify(checks, folder)
}

/** Takes what is left, to the last byte. */
async function fill(path) {
  const file = await open(path, 'w')
  try {
    for (let size = 1_048_576; size >= 1; size /= 2) {
      for (;;) {
        try {
          await file.write(Buffer.alloc(size))
        } catch {
          // Less may still fit.
          break
        }
      }
    }
  } finally {
    await file.close()
  }
}

async function works(client, token) {
  for (let count = 0; count < TRIES; count++) {
    if ((await append(client, token, `after-${count}`)).json?.ok) return true
    await wait(100)
  }
  return false
}

function append(client, token, key) {
  return client.call(token, 'load.append', { input: { key }, idempotencyKey: key }, { timeoutMs: 20_000 })
}
