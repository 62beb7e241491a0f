import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { untyped } from './typed.mjs'

const HOLD = fileURLToPath(new URL('hold-store.mjs', import.meta.url))
const LOCKED_MS = 3_000
const MAX_MS = 20_000

/** Another process locks the store: calls wait or say that they cannot, and none hangs. */
export async function checkStoreLocked(checks, { folder, client, token }) {
  const holder = spawn(process.execPath, [HOLD, join(folder, '.tool-hub', 'store.db'), String(LOCKED_MS)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const released = once(holder, 'exit')
  await once(holder.stdout, 'data')
  const startedAt = performance.now()
  const calls = Array.from({ length: 20 }, (_, index) => {
    const key = `locked-${index}`
    const body = index % 2 === 0 ? { input: { key }, idempotencyKey: key } : { input: { text: key } }
    return client.call(token, index % 2 === 0 ? 'load.append' : 'load.echo', body, { timeoutMs: MAX_MS })
  })
  const outcomes = await Promise.allSettled(calls)
  const tookMs = performance.now() - startedAt
  await released
  const hung = outcomes.filter(({ status }) => status === 'rejected').map(({ reason }) => reason.message)
  checks.that(
    'while the store is locked no call hangs',
    hung.length === 0,
    hung[0] ?? `${tookMs.toFixed(0)} ms at most`,
  )
  const answers = outcomes.flatMap(({ value }) => value ?? [])
  const wrong = answers.map(untyped).filter(Boolean)
  checks.that(
    'and each answer is typed',
    wrong.length === 0,
    wrong[0] ?? `${failuresOf(answers)} of ${answers.length} failed`,
  )
  const after = await client.call(token, 'load.append', { input: { key: 'unlocked' }, idempotencyKey: 'unlocked' })
  checks.that('and when it is free again calls go on', after.json?.ok === true, after.json?.ok ? '' : after.text)
}

function failuresOf(answers) {
  return answers.filter(({ json }) => json?.ok !== true).length
}
