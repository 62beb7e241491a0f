import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Every TypeScript file below a folder, sorted. */
export function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !/\/(dist|node_modules)\//.test(file))
    .sort()
}

/** What a file imports or re-exports, types and dynamic imports included. */
export function importsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8').replaceAll(/^\s*(\/\/|\*|\/\*).*$/gm, '')
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map((match) => match[1]!)
}
