import { afterAll, describe, expect, it } from 'vitest'
import { cliFolder } from '../../../../../test/support/cli.ts'
import { fileGuard } from './doctor.ts'

const folder = cliFolder()
afterAll(folder.remove)

describe('tool-hub doctor', () => {
  it('examines the machine and the config', async () => {
    const { code, stdout } = await folder.run(['doctor', '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout).map(({ what }: { what: string }) => what)).toEqual([
      'node',
      'files',
      'search',
      'config',
      'commands',
      'policy',
      'plugins',
      'own code',
      'browser',
      'store',
      'records',
      'disk',
    ])
  })

  it('reports no code in the root if only the config is there', async () => {
    const config = folder.write('plain.yaml', 'sandbox: { root: . }\n')
    expect((await folder.run(['doctor', '--config', config])).stdout).not.toContain('own code')
  })

  it('says how strongly commands are sandboxed, and what weaker levels mean', async () => {
    expect((await folder.run(['doctor'])).stdout).toMatch(/^(good|weak) +commands +level full \(bubblewrap/m)
    const none = folder.write('none.yaml', 'sandbox: { commands: { level: none } }\n')
    expect((await folder.run(['doctor', '--config', none])).stdout).toMatch(
      /^weak +commands +level none [\s\S]*Every command asks, whatever the rules say/m,
    )
    const free = folder.write('free-commands.yaml', 'sandbox: { required: false, commands: { level: none } }\n')
    expect((await folder.run(['doctor', '--config', free])).stdout).toContain('sandbox.required is false')
  })

  it('says what a search of the web lacks: the host, then the key, by the variable that is not set', async () => {
    const config = (network: string) => `sandbox: { network: [${network}] }
secrets: { tavily: { env: NO_SUCH_VARIABLE, hosts: [api.tavily.com] } }
web: { search: { provider: tavily } }
`
    const closed = folder.write('closed.yaml', config(''))
    const { code, stdout } = await folder.run(['doctor', '--config', closed])
    expect(code).toBe(1)
    expect(stdout).toMatch(
      /^broken +web search .*api\.tavily\.com[\s\S]*fix: Add api\.tavily\.com to sandbox\.network/m,
    )
    expect(stdout).toMatch(/^weak +config .*closed\.yaml:2.*secrets\.tavily\.env: NO_SUCH_VARIABLE is not set/m)
    const keyless = folder.write('keyless.yaml', config('api.tavily.com'))
    expect((await folder.run(['doctor', '--config', keyless])).stdout).toContain('the secret tavily is missing')
    const free = folder.write(
      'free.yaml',
      'sandbox: { network: [s.example.org] }\nweb: { search: { provider: searxng, url: "https://s.example.org" } }\n',
    )
    expect((await folder.run(['doctor', '--config', free])).stdout).toMatch(/^good +web search .*without a key/m)
  })

  it('exits 1 when something is broken, with the fix', async () => {
    const file = folder.write('broken.yaml', 'polcy: []\n')
    const { code, stdout } = await folder.run(['doctor', '--config', file])
    expect(code).toBe(1)
    expect(stdout).toMatch(/^broken +config .*polcy[\s\S]*fix: /m)
  })

  it('says how strongly files are guarded, and what that does not rule out', () => {
    expect(fileGuard('descriptors', 'linux')).toMatchObject({
      state: 'good',
      detail: expect.stringContaining('level descriptors'),
    })
    expect(fileGuard('paths', 'darwin')).toEqual({
      state: 'weak',
      what: 'files',
      detail: expect.stringMatching(/^level paths: .* refuses .* can still lead that step elsewhere/),
      fix: expect.stringContaining('Linux'),
    })
    expect(fileGuard('paths', 'win32')).toMatchObject({ state: 'broken', fix: expect.stringContaining('WSL') })
  })
})
