import { ToolError } from '@tool-hub/core'
import { LONE_SURROGATE } from '@tool-hub/core/lib'
import type { ChannelLimits, MessageFile } from './channel.ts'
import type { NewMessage } from './types.ts'

const MAX_CHARS = 100_000
const MAX_TITLE_CHARS = 200
// All except line breaks and tabs: they control terminals, or end the header of a mail.
const CONTROL = /[^\P{Cc}\n\t]/u

/** Title and text of a message. */
export interface Words {
  readonly title?: string
  readonly text: string
}

/** Checks title and text; throws if they are too long, or contain control characters. */
export function checkWords({ title, text }: Words, limits: ChannelLimits, channel: string): Words {
  const { maxChars = MAX_CHARS, maxTitleChars = MAX_TITLE_CHARS } = limits
  if (text.trim() === '') throw invalid('The message is empty.', 'Give a text.')
  if (title !== undefined && /\p{Cc}/u.test(title)) throw invalid('The title has a line break or a control character.')
  if (CONTROL.test(text)) throw invalid('The text has a control character.')
  if (LONE_SURROGATE.test(text) || LONE_SURROGATE.test(title ?? '')) throw invalid('The message has half a character.')
  if (title !== undefined) assertFits(title, maxTitleChars, 'title', channel)
  assertFits(title === undefined ? text : `${title}\n${text}`, maxChars, 'message', channel)
  return { ...(title !== undefined && { title }), text }
}

/** Throws `FILE_TOO_LARGE` if the text is longer than the channel allows. */
export function assertFits(text: string, most: number, what: string, channel: string): void {
  if (text.length <= most) return
  const message = `The ${what} has ${text.length} characters; the channel ${channel} takes at most ${most}.`
  throw new ToolError('FILE_TOO_LARGE', message, {
    hint: 'Shorten it, split it, or attach it as a file if the channel takes attachments.',
  })
}

function invalid(message: string, hint = 'Remove such characters.'): ToolError {
  return new ToolError('INPUT_SCHEMA_INVALID', message, { hint })
}

const TYPES: ReadonlyMap<string, string> = new Map([
  ['txt', 'text/plain; charset=utf-8'],
  ['log', 'text/plain; charset=utf-8'],
  ['md', 'text/markdown; charset=utf-8'],
  ['csv', 'text/csv; charset=utf-8'],
  ['json', 'application/json'],
  ['html', 'text/html; charset=utf-8'],
  ['pdf', 'application/pdf'],
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
  ['svg', 'image/svg+xml'],
  ['zip', 'application/zip'],
])

const MAX_LENGTH = 100

// Folders, characters with a meaning in headers and shells, control and invisible characters.
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}"'`<>:|?*;%$&\\/]/gu

/** Limits for all channels. */
const MAX_ATTACHMENTS = 10
const MAX_ATTACHMENT_BYTES = 10_000_000

const REF = /^artifact:[0-9a-f]{64}$/

/** Reads the attachments of a message; throws if there are too many, or if they are too large. */
export async function readAttachments(
  wanted: NonNullable<NewMessage['attachments']>,
  { maxAttachments = 0, maxAttachmentBytes = MAX_ATTACHMENT_BYTES }: ChannelLimits,
  {
    channel,
    read,
  }: { readonly channel: string; readonly read: (ref: string, maxBytes: number) => Promise<Uint8Array> },
): Promise<readonly MessageFile[]> {
  if (wanted.length === 0) return []
  const most = Math.min(maxAttachments, MAX_ATTACHMENTS)
  if (wanted.length > most) throw tooMany(channel, wanted.length, most)
  const maxBytes = Math.min(maxAttachmentBytes, MAX_ATTACHMENT_BYTES)
  const files: MessageFile[] = []
  let bytes = 0
  for (const [index, { ref, name: given }] of wanted.entries()) {
    if (!REF.test(ref)) throw notARef(ref)
    const content = await read(ref, maxBytes - bytes)
    bytes += content.byteLength
    const name = cleanFileName(given, index)
    files.push({ ref, name, mediaType: mediaTypeOf(name), content })
  }
  return files
}

function tooMany(channel: string, count: number, most: number): ToolError {
  const takes = most === 0 ? 'takes no attachments' : `takes at most ${most} per message`
  return new ToolError(
    'INPUT_SCHEMA_INVALID',
    `The message has ${count} attachments; the channel ${channel} ${takes}.`,
    {
      hint: most === 0 ? 'Put what matters into the text, or use another channel.' : 'Send the others separately.',
    },
  )
}

function notARef(ref: string): ToolError {
  return new ToolError('INPUT_SCHEMA_INVALID', `${JSON.stringify(ref.slice(0, 100))} is not an artifact of this run.`, {
    hint: 'Use the ref of an artifact as a result gives it: artifact:<sha256>.',
  })
}

/** A safe file name: without folders, quotes and control characters, not hidden. */
export function cleanFileName(name: string | undefined, index: number): string {
  const last = (name ?? '').split(/[\\/]/).at(-1)!
  const clean = last
    .replace(UNSAFE, '_')
    .trim()
    .replace(/^[.\s]+/, '')
  if (clean === '') return `attachment-${index + 1}`
  if (clean.length <= MAX_LENGTH) return clean
  const extension = /\.[A-Za-z0-9]{1,10}$/.exec(clean)?.[0] ?? ''
  return clean.slice(0, MAX_LENGTH - extension.length) + extension
}

/** The media type by the file extension. Default: `application/octet-stream`. */
export function mediaTypeOf(name: string): string {
  return TYPES.get(/\.([A-Za-z0-9]+)$/.exec(name)?.[1]?.toLowerCase() ?? '') ?? 'application/octet-stream'
}
