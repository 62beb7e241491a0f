import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { isOutOfResources, lazyModule } from '@tool-hub/core'
import { ownFile, prepareDataFolder } from '@tool-hub/sandbox/system'
import type { AskSecondParser } from '@tool-hub/shell'

const loadTreeSitter = lazyModule(() => import('web-tree-sitter'))
const loadParser = lazyModule(createParser)

/** Longer texts are not parsed, because the time for some of them grows with the square of their length. */
const MAX_LENGTH = 65_536
/** The time limit for one text. A text that takes longer counts as one that cannot be parsed. */
const MAX_MS = 250

let failure: unknown

/**
 * Loads the second parser of command lines, once. Returns `undefined` if it cannot be loaded: every command then needs
 * approval. Rejects with OUT_OF_RESOURCES if loading may succeed later.
 */
export async function loadSecondParser(): Promise<AskSecondParser | undefined> {
  try {
    return await loadParser()
  } catch (cause) {
    if (isOutOfResources(cause)) throw cause
    failure = cause
    return undefined
  }
}

/** Returns why the second parser could not be loaded. */
export function secondParserFailure(): unknown {
  return failure
}

async function createParser(): Promise<AskSecondParser> {
  const { Parser, Language } = await loadTreeSitter()
  await Parser.init()
  const language = await Language.load(await readGrammar())
  const parser = new Parser().setLanguage(language)

  return (text) => {
    if (text.length > MAX_LENGTH) return { hasError: true, names: [] }
    const giveUpAt = performance.now() + MAX_MS
    const tree = parser.parse(text, null, { progressCallback: () => performance.now() > giveUpAt })
    if (tree === null) {
      // Otherwise the parser would resume this text when it parses the next one.
      parser.reset()
      return { hasError: true, names: [] }
    }
    try {
      const { rootNode } = tree
      const names = rootNode
        .descendantsOfType('command_name')
        .flatMap((node) => (node ? [{ from: node.startIndex, to: node.endIndex }] : []))
      return { hasError: rootNode.hasError, names }
    } finally {
      tree.delete()
    }
  }
}

/** Reads the grammar: the built package contains it; in the source tree it is in the package that provides it. */
async function readGrammar(): Promise<Uint8Array> {
  try {
    return await readFile(ownFile('runtime/hub/tree-sitter-bash.wasm'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return readFile(createRequire(import.meta.url).resolve('tree-sitter-bash/tree-sitter-bash.wasm'))
  }
}

const loadPlaceKeeper = lazyModule(() => import('@tool-hub/sandbox/protected'))

/** Returns the folder of the ledger that lists what existed at protected paths before a command started. */
export function ledgerFolderOf(data: string): string {
  return join(data, 'commands')
}

/**
 * Renames files that commands created at protected paths if their hub was killed before it could do so. Must run before any
 * config, plugin or hook is loaded from a folder that tools can write.
 */
export async function recoverCommands(data: string): Promise<void> {
  const folder = ledgerFolderOf(data)
  if (!existsSync(folder)) return
  prepareDataFolder(data)
  const { recoverPlaces } = await loadPlaceKeeper()
  await recoverPlaces(folder, ({ path, movedTo, problem }) => {
    const outcome =
      problem === undefined ? `It was renamed to ${movedTo}` : `It could not be renamed (${problem}), so check it`
    process.emitWarning(
      `A command whose hub was killed created ${path}, which is protected. ${outcome}.`,
      'ToolHubWarning',
    )
  })
}
