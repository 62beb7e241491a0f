import { pathToFileURL } from 'node:url'
import type { Clock } from '../../clock.ts'
import type { AnyTool } from '../../define.ts'
import { toolsOfExport } from './tools-of-export.ts'
import { within } from './within.ts'

const LOAD_MS = 10_000

/** Imports the tools of one module; another version of the same file is another module. */
export function loadToolFile(
  { path, version }: { readonly path: string; readonly version: string },
  clock: Clock,
): Promise<readonly AnyTool[]> {
  const url = pathToFileURL(path)
  url.searchParams.set('version', version)
  const load = async () => {
    const module = (await import(url.href)) as { readonly default?: unknown }
    return toolsOfExport(module.default)
  }
  return within(load(), LOAD_MS, clock, () => new Error(`it did not load within ${LOAD_MS} ms.`))
}
