import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { verifyRun } from '../packages/runtime/src/records/log/verify-run.ts'
import { testHub } from '../packages/testing/src/tool-contract.ts'
import { bundleModule } from './support/run-module.ts'

const base = realpathSync(mkdtempSync(join(tmpdir(), 'undo-kill-')))
afterAll(() => rmSync(base, { recursive: true }))

it('brings everything back after kill -9 in the middle of changes, and again in the middle of the undo', async () => {
  const module = await bundleModule(join(import.meta.dirname, 'support/change-until-killed.ts'))
  for (let round = 0; round < 4; round += 1) {
    const folder = join(base, String(round))
    const [root, runs] = [join(folder, 'ws'), join(folder, 'runs')]
    mkdirSync(join(root, 'd/e'), { recursive: true })
    writeFileSync(join(root, 'a.txt'), 'old')
    writeFileSync(join(root, 'd/x.txt'), 'x')
    const before = snapshot(root)
    // Each round dies somewhere else: the changes take some milliseconds each.
    await killed([module, runs, root, 'change'], folder, round * 5)
    await killed([module, runs, root, 'undo'], folder, round * 4)
    const hub = testHub({ runs, data: join(folder, '.tool-hub'), sandbox: { root } })
    const report = await hub.undo({ run: 'victim' })
    expect(report.changes.filter(({ action }) => action === 'refused')).toEqual([])
    expect(snapshot(root)).toEqual(before)
    await hub.close()
    for (const run of readdirSync(runs, { withFileTypes: true }).filter((entry) => entry.isDirectory())) {
      expect(await verifyRun(join(runs, run.name))).toMatchObject({ problems: [] })
    }
  }
})

/** Runs a child until it has begun and some time has passed, then kills it; it may have ended before. */
async function killed(words: readonly string[], cwd: string, afterMs: number): Promise<void> {
  const child = spawn(process.execPath, words, { cwd, stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  await Promise.race([once(child.stdout, 'data'), exited])
  await Promise.race([new Promise((resolve) => setTimeout(resolve, afterMs)), exited])
  child.kill('SIGKILL')
  await exited
}

function snapshot(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return Object.fromEntries(
    entries.map((entry) => {
      const path = join(entry.parentPath, entry.name)
      return [relative(folder, path), entry.isFile() ? readFileSync(path, 'utf8') : '']
    }),
  )
}
