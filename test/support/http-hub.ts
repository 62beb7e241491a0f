import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach } from 'vitest'
import type { HubOptions } from '../../packages/core/src/options.ts'
import { type TestHub, testHub } from '../../packages/testing/src/tool-contract.ts'
import { useLoopback } from './loopback.ts'

/** Gives every test of a file a web server on loopback and hubs whose tools may reach it. */
export function useHttpHub() {
  const local = useLoopback()
  let hubs: TestHub[] = []
  const roots: string[] = []
  afterEach(async () => {
    await Promise.all(hubs.map((hub) => hub.close()))
    hubs = []
    for (const root of roots.splice(0)) rmSync(root, { recursive: true, force: true })
  })
  return {
    local,
    url: (path = '/') => `http://127.0.0.1:${local.port}${path}`,
    hub(options: HubOptions = {}) {
      const sandbox = { network: ['127.0.0.1'], privateRanges: ['127.0.0.1/32'], ...options.sandbox }
      const hub = testHub({ ...options, sandbox }) as TestHub
      hubs.push(hub)
      return hub
    },
    /** The same, with a folder of its own as root, and how to look into it. */
    fileHub(options: HubOptions = {}) {
      const root = mkdtempSync(join(tmpdir(), 'tool-hub-http-'))
      roots.push(root)
      const hub = this.hub({ ...options, sandbox: { ...options.sandbox, root } })
      return { hub, root, read: (path: string) => readFileSync(join(root, path)) }
    },
  }
}
