import { resolve } from 'node:path'
import { checkConfig } from '../../config/check-config.ts'
import { readDocument } from '../../config/read-document.ts'
import { UsageError } from '../usage-error.ts'

/** The rules of a token as they are written, with the file they come from. */
export interface TokenPolicy {
  readonly file: string
  readonly rules: Record<string, unknown>[]
}

const KEYS = new Set(['policy', 'version'])

/** Reads a file with `policy: [ … ]`; whatever is wrong with it is told with its line. */
export async function readTokenPolicy(path: string): Promise<TokenPolicy> {
  const cwd = process.cwd()
  const document = await readDocument(resolve(cwd, path), cwd)
  const { policy } = checkConfig(document)
  const other = Object.keys(Object(document.value)).find((key) => !KEYS.has(key))
  if (!Array.isArray(policy) || other !== undefined) {
    const what = other === undefined ? 'has no list of rules' : `says ${JSON.stringify(other)}, which no token heeds`
    throw new UsageError(`${document.label} ${what}.`, 'Write policy: and below it the rules, as in tool-hub.yaml.')
  }
  return { file: document.file, rules: (document.value as { policy: Record<string, unknown>[] }).policy }
}
