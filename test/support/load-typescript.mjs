// Lets Node load the .ts sources: workers of a test (packages/sandbox/src/system/own-file.ts names it, no release does) and scripts.
import { readFile } from 'node:fs/promises'
import { register } from 'node:module'
import { fileURLToPath } from 'node:url'
import { transform } from 'rolldown/utils'

// The file is both: the one that registers the hooks (in the worker) and the hooks (in the thread Node runs them in).
if (!import.meta.url.includes('?hooks')) register(`${import.meta.url}?hooks`)

/** Loads a .ts module without its types. */
export async function load(url, context, next) {
  if (!url.endsWith('.ts')) return next(url, context)
  const path = fileURLToPath(url)
  const { code, errors } = await transform(path, await readFile(path, 'utf8'))
  if (errors.length > 0) throw new SyntaxError(`${path}: ${errors[0].message}`)
  return { format: 'module', source: code, shortCircuit: true }
}
