import { afterAll, describe, expect, it } from 'vitest'
import { cliFolder } from '../../../test/support/cli.ts'
import { examine } from './doctor-examine.ts'

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
      'policy',
      'records',
      'disk',
    ])
  })

  it('exits 1 when something is broken, with the fix', async () => {
    const file = folder.write('broken.yaml', 'polcy: []\n')
    const { code, stdout } = await folder.run(['doctor', '--config', file])
    expect(code).toBe(1)
    expect(stdout).toMatch(/^broken +config .*polcy[\s\S]*fix: /m)
  })

  it('calls a machine without /proc broken for files, and says what works there', async () => {
    const findings = await examine({}, { descriptors: '/nowhere/fd' })
    expect(findings.find(({ what }) => what === 'files')).toEqual({
      state: 'broken',
      what: 'files',
      detail: expect.stringMatching(/SANDBOX_UNAVAILABLE.*Tools that need no files, .* work/),
      fix: expect.stringContaining('Linux'),
    })
  })
})
