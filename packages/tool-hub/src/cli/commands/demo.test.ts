import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { cliFolder } from '../../../../../test/support/cli.ts'

const folder = cliFolder()
afterAll(folder.remove)

describe('tool-hub demo', () => {
  it('runs by itself: allowed, asked and denied calls, then a verified audit', async () => {
    const { code, stdout, stderr } = await folder.run(['demo'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    for (const part of [
      'allowed   demo/web.fetch',
      'approved  demo/files.writeReport',
      'denied    demo/web.fetch',
      'asked     demo/files.writeReport',
      'only in this demo',
      '3 orders → 2 open',
      'intact',
      'you may delete it',
    ])
      expect(stdout).toContain(part)
  })

  it('leaves a report and a record behind', async () => {
    const outcome = JSON.parse((await folder.run(['demo', '--json'])).stdout)
    expect(readFileSync(join(outcome.folder, 'workspace/reports/open-orders.md'), 'utf8')).toContain('Together 63 EUR.')
    const config = join(outcome.folder, 'tool-hub.yaml')
    expect((await folder.run(['audit', 'verify', '--config', config])).code).toBe(0)
    const words = ['policy', 'explain', 'demo/web.fetch', '--url', 'http://paste.example/in', '--config', config]
    expect(await folder.run(words)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\w+ {2}demo\/web\.fetch/),
    })
  })
})
