import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cliFolder } from '../../../../../test/support/cli.ts'
import { startPostgres, type TestPostgres } from '../../../../../test/support/postgres.ts'

let server: TestPostgres
beforeAll(async () => {
  server = await startPostgres({ tcp: true })
})
afterAll(() => server.close())

const RULES = 'policy: [{ allow: core/util.time.now, limit: { runOn: "worker:gpu" } }]'

describe('tool-hub worker', () => {
  it('executes calls of other processes with its labels, and SIGTERM ends it with 0', async () => {
    // The config has a warning, which the log has as an entry.
    const files =
      'tools: { default: allow, read_file: { action: allow, constraints: { allowed_paths: [./missing/] } } }'
    const section = 'worker: { labels: [gpu], concurrency: 2 }'
    const folder = cliFolder(`store: ${server.url}\n${RULES}\n${section}\n${files}\n`)
    const working = folder.start(['worker', '--json', '--log-level', 'debug'])
    await working.says('"labels":[')
    expect(JSON.parse(working.said().stdout)).toMatchObject({ id: expect.stringMatching(/^p-/), labels: ['gpu'] })
    const called = await folder.run(['call', 'core/util.time.now', '--json'])
    expect(JSON.parse(called.stdout)).toMatchObject({ ok: true, tool: 'core/util.time.now' })
    working.child.kill('SIGTERM')
    const { code, stderr } = await working.ended
    expect(code).toBe(0)
    const log = stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { event: string })
    expect(log.map(({ event }) => event)).toEqual(
      expect.arrayContaining(['config-warning', 'worker-started', 'job', 'worker-draining', 'worker-stopped']),
    )
    const known = { time: expect.stringMatching(/^\d{4}-.*Z$/), level: expect.stringMatching(/debug|info|warn/) }
    for (const entry of log) expect(entry).toMatchObject(known)
    folder.remove()
  })

  it('says what is wrong with its options, its config and its store', async () => {
    const folder = cliFolder(`${RULES}\n`)
    const [alone, labels, number, config, called] = await Promise.all([
      folder.run(['worker']),
      folder.run(['worker', '--labels', 'GPU']),
      folder.run(['worker', '--concurrency', 'many']),
      folder.run(['worker', '--config', folder.write('bad.yaml', 'policy: [{ allow: "*", limit: { runOn: gpu } }]\n')]),
      folder.run(['call', 'core/util.time.now']),
    ])
    expect(alone).toMatchObject({ code: 2, stderr: expect.stringContaining('Set store to a PostgreSQL URL') })
    expect(labels).toMatchObject({ code: 2, stderr: expect.stringContaining('["GPU"]') })
    expect(number).toMatchObject({ code: 2, stderr: expect.stringContaining('--concurrency takes a number') })
    expect(config).toMatchObject({ code: 2, stderr: expect.stringMatching(/bad\.yaml:1[\s\S]*worker:gpu/) })
    expect(called).toMatchObject({ code: 1 })
    expect(`${called.stdout}${called.stderr}`).toContain('NO_WORKER')
    folder.remove()
  })
})
