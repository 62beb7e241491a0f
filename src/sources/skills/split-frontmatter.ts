import { configError } from '../../core/document/problem.ts'
import { HEAD_BYTES } from './head-bytes.ts'

/** The YAML between the first two `---` of a text, its lines numbered as in the file, and the line after it. */
export function splitFrontmatter(text: string, label: string): { readonly yaml: string; readonly bodyLine: number } {
  const lines = text.replace(/^\ufeff/, '').split(/\r?\n/)
  if (lines[0]?.trimEnd() !== '---') throw broken(label, 1, 'it does not begin with a line of ---.')
  const end = lines.findIndex((line, index) => index > 0 && line.trimEnd() === '---')
  if (end === -1) throw broken(label, 1, `its frontmatter does not end: no second line of --- in ${HEAD_BYTES} bytes.`)
  return { yaml: ['', ...lines.slice(1, end)].join('\n'), bodyLine: end + 2 }
}

function broken(label: string, line: number, message: string) {
  return configError(label, [{ position: { line, column: 1 }, message }], {
    hint: 'A SKILL.md begins with ---, name:, description: and ---.',
  })
}
