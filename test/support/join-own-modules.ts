import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'
import type { TestProject } from 'vitest/node'

/** What tests start hundreds of times in a thread or process of its own. */
const MODULES = ['sandbox/pages/page-worker', 'sandbox/exec/spawner/spawner-main', 'code/engine/engine-worker']

/** Joins them once before all tests: to read TypeScript anew takes each start three times as long. */
export default async function joinOwnModules(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (!project.isRootProject()) return undefined
  // Below the project, so that what they import of other packages is found.
  const folder = await mkdtemp(resolve('node_modules/.own-modules-'))
  const input = Object.fromEntries(MODULES.map((path) => [path, `packages/${path.replace('/', '/src/')}.ts`]))
  const bundle = await rolldown({ input, platform: 'node', external: /^(?!@tool-hub\/)[^./]/, logLevel: 'silent' })
  await bundle.write({ dir: folder, format: 'esm' })
  await bundle.close()
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  const files = MODULES.map((path) => [path, pathToFileURL(join(folder, `${path}.js`)).href] as const)
  process.env.TOOL_HUB_TEST_MODULES = JSON.stringify(Object.fromEntries(files))
  return () => rm(folder, { recursive: true, force: true })
}
