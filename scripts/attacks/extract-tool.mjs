// Stands for unpacking an archive until there is a tool for it: the guard's rules for entries, on the guard's own handle.
import { z } from 'zod'
import { defineTool, ToolError } from '../../packages/tool-hub/dist/index.js'

const MAX_ENTRIES = 10_000
const MAX_BYTES = 100_000_000
const MAX_RATIO = 100
const FILES = new Set([undefined, 'file', 'regular'])
const FOLDERS = new Set(['dir', 'directory', 'folder'])
/** Names that mean another place to another system: archives travel. */
const FOREIGN_NAME = /\\|^[a-z]:/i

/**
 * Takes the entry list of a case. Entries are names and kinds: links, devices and lists over the budgets are refused,
 * names go through the files guard, all files of the list are created together or not at all.
 */
export const extractTool = defineTool({
  name: 'attacks.extract',
  description: 'Unpack a list of entries, for the attack cases.',
  input: z.strictObject({ entries: z.array(z.looseObject({ name: z.string() })) }),
  capabilities: ['write:fs'],
  targets: ({ entries }) => ({ 'write:fs': withinBudget(entries) ? entries.map(({ name }) => name) : [] }),
  async execute({ entries }, ctx) {
    const odd = entries.find(({ type }) => !FILES.has(type) && !FOLDERS.has(type))
    if (odd) throw new ToolError('PATH_DENIED', `An archive may hold files and folders only, not a ${odd.type}.`)
    const foreign = entries.find(({ name }) => FOREIGN_NAME.test(name))
    if (foreign) throw new ToolError('PATH_DENIED', `The name ${foreign.name} is another place elsewhere.`)
    if (!withinBudget(entries)) throw new ToolError('FILE_TOO_LARGE', 'The archive is over its budget.')
    const isFolder = ({ name, type }) => FOLDERS.has(type) || name.endsWith('/')
    const files = entries.filter((entry) => !isFolder(entry))
    await ctx.fs.changeAll(files.map(({ name, text = '' }) => ({ type: 'create', path: name, content: String(text) })))
    for (const { name } of entries.filter(isFolder)) await ctx.fs.makeFolder(name)
    return { files: files.length }
  },
})

function withinBudget(entries) {
  const times = ({ repeat = 1 }) => Number(repeat)
  const count = entries.reduce((sum, entry) => sum + times(entry), 0)
  const bytes = entries.reduce((sum, entry) => sum + times(entry) * Number(entry.size ?? entry.bytes ?? 0), 0)
  const packed = entries.reduce((sum, { compressed = Number.NaN }) => sum + Number(compressed), 0)
  const ratio = Math.max(bytes / packed || 0, ...entries.map((entry) => Number(entry.ratio ?? 0)))
  return count <= MAX_ENTRIES && bytes <= MAX_BYTES && ratio <= MAX_RATIO
}
