import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { nearestManifest, type SelfReference, selfReference } from './code-files.ts'

const NODE = /(^|\/)(node|bun|deno|tsx|ts-node)$/
/** `npx NAME`; the others run a package by a subcommand. */
const RUNS_PACKAGE = /(^|\/)(npx|pnpx|bunx)$/
const HAS_SUBCOMMAND = /(^|\/)(npm|pnpm|yarn|bun)$/
const SUBCOMMANDS = new Set(['exec', 'x', 'dlx'])

/**
 * The package.json through which a program that is started by these words would be one of the project around it, though
 * they name a package: anybody who may write that file chooses what runs. Undefined if there is none.
 */
export function takenOver(argv: readonly string[], cwd: string = process.cwd()): SelfReference | undefined {
  const [program = '', ...words] = argv
  const manifest = nearestManifest(resolve(cwd))
  const name = manifest && packagesNamed(program, words).find((each) => programsIn(manifest).includes(each))
  if (manifest && name !== undefined) return { manifest, name }
  const files = [program.includes('/') ? program : '', ...(NODE.test(program) ? words : [])]
  for (const file of files.filter((each) => each !== '' && !each.startsWith('-'))) {
    const path = resolve(cwd, file)
    const found = existsSync(path) ? selfReference(path) : undefined
    if (found) return found
  }
  return undefined
}

/** Without the version. */
function packagesNamed(program: string, words: readonly string[]): string[] {
  const plain = words.filter((word) => !word.startsWith('-'))
  const isSubcommand = HAS_SUBCOMMAND.test(program) && SUBCOMMANDS.has(plain[0] ?? '')
  if (!isSubcommand && !RUNS_PACKAGE.test(program)) return []
  const options = words.flatMap((word, index) => {
    if (word === '-p' || word === '--package') return words[index + 1] ?? []
    return word.startsWith('--package=') ? word.slice('--package='.length) : []
  })
  const named = [
    ...options,
    ...plain
      .slice(isSubcommand ? 1 : 0)
      .filter((word) => !options.includes(word))
      .slice(0, 1),
  ]
  return named.map((word) => word.replace(/(?!^)@.*$/, ''))
}

/** The names by which a runner of packages would run the project itself. */
function programsIn(manifest: string): string[] {
  try {
    const { name, bin } = JSON.parse(readFileSync(manifest, 'utf8'))
    const own = typeof name === 'string' ? [name, name.replace(/^.*\//, '')] : []
    if (typeof bin === 'string') return own
    return typeof bin === 'object' && bin !== null ? [...own, ...Object.keys(bin)] : []
  } catch {
    // The runner would not read it either, and says so.
    return []
  }
}
