import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { isOutOfResources, lazyModule } from '../core/index.ts'
import type { AskSecondParser } from '../shell/index.ts'
import { ownFile, prepareDataFolder } from '../system/index.ts'

const loadTreeSitter = lazyModule(() => import('web-tree-sitter'))
const loadParser = lazyModule(createParser)

/** More than this is not parsed: some texts take time that grows with the square of their length. */
const MAX_LENGTH = 65_536
/** How long it may look at one text; past it the text counts as one that cannot be parsed. */
const MAX_MS = 250

let failure: unknown

/**
 * Loads the second parser of command lines, once. Returns `undefined` if it cannot be loaded: then every command is
 * asked. Fails with OUT_OF_RESOURCES if it cannot be loaded at the moment.
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

/** Why the second parser could not be loaded. */
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
      // What it has begun would be taken up by the next text.
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

/** The built package has the grammar itself, the source tree in the package it comes from. */
async function readGrammar(): Promise<Uint8Array> {
  try {
    return await readFile(ownFile('hub/tree-sitter-bash.wasm'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return readFile(createRequire(import.meta.url).resolve('tree-sitter-bash/tree-sitter-bash.wasm'))
  }
}

const loadPlaceKeeper = lazyModule(() => import('../sandbox/protected/index.ts'))

/** Where is noted, while commands run, what was at protected places before. */
export function ledgerFolderOf(data: string): string {
  return join(data, 'commands')
}

/**
 * Takes away what commands have made at protected places whose hub was killed before it could. To be done before anything
 * that lies in a folder of tools is believed: a config, a plugin, a hook.
 */
export async function recoverCommands(data: string): Promise<void> {
  const folder = ledgerFolderOf(data)
  if (!existsSync(folder)) return
  prepareDataFolder(data)
  const { recoverPlaces } = await loadPlaceKeeper()
  await recoverPlaces(folder, ({ path, movedTo, problem }) => {
    const outcome = problem === undefined ? `It is ${movedTo} now` : `It could not be renamed (${problem}): look at it`
    process.emitWarning(
      `A command whose hub was killed made ${path}, which is protected. ${outcome}.`,
      'ToolHubWarning',
    )
  })
}
