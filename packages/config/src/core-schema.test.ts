import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { useHttpHub } from '../../../test/support/http-hub.ts'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { loadConfig } from './load-config.ts'

const http = useHttpHub()
const folder = temporaryFolder()

async function load(text: string) {
  const file = join(folder, 'tool-hub.yaml')
  writeFileSync(file, text)
  return (await loadConfig({ file, home: folder })).options
}

const WHOLE = `core:
  sandboxRoot: ./sandbox
  maxReadBytes: 5242880
  maxHttpBytes: 2000
  maxDownloadBytes: 104857600
  allowedHosts: ["127.0.0.1", "*.openai.com"]
  blockedCidrs: ["203.0.113.0/24"]
  defaultTimeoutMs: 15000
  httpUserAgent: agent/1.0
  enableAutoWriteLargeResponses: true
`

it('takes the whole CoreToolsConfig in tool-hub.yaml', async () => {
  const options = await load(WHOLE)
  expect(options).toMatchObject({
    sandbox: {
      workspaces: join(folder, 'sandbox'),
      network: ['127.0.0.1', '*.openai.com'],
      blockedRanges: ['203.0.113.0/24'],
    },
    limits: { downloadBytes: 104_857_600, httpTimeoutMs: 15_000 },
    core: {
      maxReadBytes: 5_242_880,
      maxHttpBytes: 2_000,
      httpUserAgent: 'agent/1.0',
      enableAutoWriteLargeResponses: true,
    },
  })
  const agents: unknown[] = []
  http.local.answer = (request, response) => {
    agents.push(request.headers['user-agent'])
    response.end('x'.repeat(5_000))
  }
  const { runs: _, data: __, ...rest } = options
  const hub = http.hub({ ...rest, sandbox: { ...rest.sandbox, privateRanges: ['127.0.0.1/32'] } })
  const result = await hub.callDynamic('core/http.fetchText', { url: http.url() })
  expect(agents).toEqual(['agent/1.0'])
  expect(result.data).toMatchObject({ bytes: 2_000, fileRef: expect.stringContaining('downloads/') })
})

it('lets the sections of their own win, and refuses what CoreToolsConfig does not have', async () => {
  const both = await load(
    'core: { maxHttpBytes: 5MB, allowedHosts: [a.example] }\nlimits: { http: 1MB }\nsandbox: { network: [b.example] }\n',
  )
  expect(both).toMatchObject({ limits: { httpBytes: 1_000_000 }, sandbox: { network: ['b.example'] } })
  await expect(load('core: { maxReadbytes: 5 }\n')).rejects.toThrow('maxReadBytes')
  await expect(load('core: { blockedCidrs: [nonsense] }\n')).rejects.toThrow('blockedCidrs')
})
