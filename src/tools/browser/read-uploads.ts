import type { PageFile } from '../../core/browser.ts'
import { ToolError } from '../../core/errors.ts'
import type { BrowserContext } from './keep-bytes.ts'

const MAX_BYTES = 25_000_000

/** Reads the files that go into a page: whole, and only from where tools may read. */
export async function readUploads(paths: readonly string[], ctx: BrowserContext): Promise<PageFile[]> {
  const files: PageFile[] = []
  for (const path of paths) {
    const { content, bytes } = await ctx.fs.readBytes(path, { maxBytes: MAX_BYTES })
    if (bytes > content.length) {
      throw new ToolError('FILE_TOO_LARGE', `${path} has ${bytes} bytes, ${content.length} can be uploaded.`, {
        hint: 'Upload a smaller file.',
      })
    }
    files.push({ name: path.split('/').at(-1) || 'file', bytes: content })
  }
  return files
}
