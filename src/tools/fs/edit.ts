import { z } from 'zod'
import { defineTool } from '../../define.ts'
import { editFile, planEdit } from './edit/edit-file.ts'
import { codingEditInput, editInput, editsOf } from './edit/edit-input.ts'
import { PATH_ALIASES } from './path-schema.ts'
import { count } from './quote.ts'

/** Replaces parts of a text file. */
export const edit = defineTool({
  name: 'core/fs.edit',
  title: 'Edit a text file',
  description:
    'Replace a text in a file by another; every other byte stays. The old text must stand there exactly once, unless ' +
    'replaceAll is set; blanks at line ends and kinds of quotes are forgiven. Use edits for several changes at once. Not ' +
    'for new files: write them.',
  input: editInput,
  output: z.strictObject({
    path: z.string().describe('The path as it was given.'),
    replacements: z.int().min(1).describe('How many places were changed.'),
    firstChangedLine: z.int().min(1).describe('1-based, in the file as it is now.'),
    diff: z.string().describe('Unified diff with four lines around each change.'),
    bytes: z.int().min(0).describe('Bytes of the file now.'),
    sha256: z.string().describe('SHA-256 of the file now, hex.'),
    forgiven: z
      .array(z.enum(['trailing-space', 'unicode', 'indentation']))
      .optional()
      .describe('What differed between the old text and the file; missing when it was found exactly.'),
  }),
  capabilities: ['read:fs', 'write:fs', 'danger:destructive'],
  // Only what this very call has read is replaced, so that nothing unknown is destroyed.
  targets: ({ path }) => ({ 'read:fs': path, 'write:fs': path, 'danger:destructive': [] }),
  async preview({ path, indentation, ...input }, ctx) {
    const { source, edited } = await planEdit(path, { edits: editsOf(input), indentation }, ctx)
    return [{ path, before: source.text, after: edited.text }]
  },
  callers: ['direct', 'script'],
  timeoutMs: 30_000,
  category: 'write',
  tags: ['file', 'text', 'edit', 'replace'],
  version: '1.0.0',
  examples: [
    { input: { path: 'config.json', oldText: '"debug": false', newText: '"debug": true' } },
    { input: { path: 'notes.md', oldText: 'teh', newText: 'the', replaceAll: true }, note: 'everywhere in the file' },
  ],
  dialects: {
    coding: {
      name: 'edit',
      argumentAliases: {
        ...PATH_ALIASES,
        oldText: 'oldString',
        old_string: 'oldString',
        newText: 'newString',
        new_string: 'newString',
        replace_all: 'replaceAll',
      },
      description:
        'Replace oldString by newString in a file. Copy oldString exactly from the file, without line numbers; it must be ' +
        'unique, so give lines around it, or set replaceAll. Use edits for several changes at once.',
      input: codingEditInput,
      toInput: ({ path, oldString, newString, replaceAll, edits }) => ({
        path,
        oldText: oldString,
        newText: newString,
        replaceAll,
        edits,
      }),
    },
  },
  async execute({ path, indentation, ...input }, ctx) {
    const { replacements, forgiven, ...changes } = await editFile(path, { edits: editsOf(input), indentation }, ctx)
    const { bytes, sha256 } = changes
    const summary = `${count(replacements, 'replacement')}, ${bytes} bytes, sha256 ${sha256}`
    ctx.evidence({ type: 'file', ref: path, summary })
    const result = { path, replacements, ...changes }
    return forgiven.length === 0 ? result : { ...result, forgiven: [...forgiven] }
  },
  toModel: ({ path, replacements, diff, forgiven }) => {
    const how = forgiven ? ` (forgiven: ${forgiven.join(', ')})` : ''
    return `Changed ${count(replacements, 'place')} in ${path}${how}.\n${diff}`
  },
})
