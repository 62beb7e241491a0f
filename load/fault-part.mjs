import { auditVerify } from './audit-verify.mjs'
import { checkClockJump } from './clock-jump.mjs'
import { checkDiskFull } from './disk-full.mjs'
import { checkGuesses } from './guess-tokens.mjs'
import { HttpClient } from './http-client.mjs'
import { makeTokens } from './make-tokens.mjs'
import { startProcess } from './service-process.mjs'
import { checkSmuggling } from './smuggling.mjs'
import { checkStoreLocked } from './store-locked.mjs'

/** Breaks what the service stands on, and sends what it should not get. */
export async function runFaults(checks, folder, { isCi }) {
  await checks.try('clock jump', () => checkClockJump(checks))
  await checks.try('disk full', () => checkDiskFull(checks, { isCi }))
  const service = await startProcess(folder)
  const client = new HttpClient(service.url)
  const [token] = await makeTokens(client, service.token, ['faults'])
  const parts = { folder, service, client, token }
  await checks.try('store locked', () => checkStoreLocked(checks, parts))
  await checks.try('smuggling', () => checkSmuggling(checks, parts))
  // Last: the address of this machine has to wait after it.
  await checks.try('guesses', () => checkGuesses(checks, parts))
  client.close()
  await service.stop()
  await auditVerify(checks, folder)
}
