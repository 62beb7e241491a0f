import { pathToFileURL } from 'node:url'
import type { Clock } from '../../clock.ts'
import type { AnyTool } from '../../define.ts'
import { isOutOfResources, loadWithRoom } from '../../disk/lazy-module.ts'
import { syntaxLine } from '../../disk/syntax-line.ts'
import { messageOf } from '../../errors.ts'
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
    const module = await importModule(path, url)
    return toolsOfExport(module.default)
  }
  return within(load(), LOAD_MS, clock, () => new Error(`it did not load within ${LOAD_MS} ms.`))
}

async function importModule(path: string, url: URL): Promise<{ readonly default?: unknown }> {
  try {
    return await loadWithRoom(() => import(url.href))
  } catch (cause) {
    if (isOutOfResources(cause)) throw cause
    const line = await syntaxLine(path, cause)
    throw line === undefined ? cause : new Error(`line ${line}: ${messageOf(cause)}`, { cause })
  }
}
